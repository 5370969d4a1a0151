/**
 * The adversary's nodes, for tests of this or any other engine: put one in front of a local node and point the engine at
 * its `url`. They stack: a hostile proxy before a strict pool before the node. See `README.md` here.
 */

export * from '#sandbox/faults/node/node-faults'
export { falseContents } from './false-contents.ts'
export {
  type AppliedFault,
  type HostileOptions,
  type HostileRpc,
  openHostileRpc,
  type ScriptStep,
} from './hostile-rpc.ts'
export { type Mutation, mutate, mutations } from './mutations.ts'
export { gethRules, type PoolRules, type Rule } from './pool-rules.ts'
export type { RpcProxy } from './proxy.ts'
export { type SeededRandom, seededRandom, seedsOf } from './seeded-random.ts'
export { type Eviction, openStrictPool, type Send, type StrictPool } from './strict-pool.ts'
