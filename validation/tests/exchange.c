/* Exchange of messages for smpirun: every rank sends its row of a matrix of bytes, all messages at once. The argument is
   a file with the matrix; the output is the longest time of a rank in s. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long *bytes = malloc(sizeof(long) * size * size), longest = 1;
  FILE *file = fopen(argv[1], "r");
  for (int cell = 0; cell < size * size; cell++) {
    if (fscanf(file, "%ld", &bytes[cell]) != 1) return 1;
    if (bytes[cell] > longest) longest = bytes[cell];
  }
  fclose(file);
  char *buffer = SMPI_SHARED_MALLOC(longest);
  MPI_Request *requests = malloc(sizeof(MPI_Request) * 2 * size);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), last;
  for (int step = 1; step < size; step++) {
    int from = (rank + size - step) % size, in = bytes[from * size + rank];
    if (in) MPI_Irecv(buffer, in, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[count++]);
  }
  for (int step = 1; step < size; step++) {
    int to = (rank + step) % size, out = bytes[rank * size + to];
    if (out) MPI_Isend(buffer, out, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  double own = MPI_Wtime() - start;
  MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.9f\n", last);
  MPI_Finalize();
  return 0;
}
