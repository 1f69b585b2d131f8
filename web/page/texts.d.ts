declare module "sledlab:worker" {
  /** The script of the worker, bundled. */
  const script: string;
  export default script;
}
