/**
 * The published client of Aptos. Its package lists its sources under the condition `source`, which this repository uses for its own:
 * the built files are imported by path.
 */
export * from '../../node_modules/@aptos-labs/ts-sdk/dist/esm/index.mjs'
