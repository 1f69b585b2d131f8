"""Claims of five papers on MEMS storage, judged by experiments on sledlab: see README.md."""
