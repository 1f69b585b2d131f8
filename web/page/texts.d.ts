declare module "sledlab:worker" {
  /** The worker, bundled. */
  const script: string;
  export default script;
}
