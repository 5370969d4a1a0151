/**
 * The published SDK of Aptos, by which tests read a ledger that the platform wrote to. Its package names its sources under the condition
 * `source`, by which tests run, and Node loads no sources out of packages: this is the file that its users load.
 */
export * from '../../node_modules/@aptos-labs/ts-sdk/dist/esm/index.mjs'
