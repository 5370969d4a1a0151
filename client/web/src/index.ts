export { W3SSdk } from './sdk.ts'
export * from './types.ts'
