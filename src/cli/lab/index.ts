import type { CommandTable } from '../command.ts'

/** The nouns of `bezant sandbox`, which control a sandbox that runs. The module of each is loaded when it is used. */
export const labCommands: CommandTable = {
  chain: {
    summary: 'Control the chains of a sandbox that runs: mine, pause, reorganise.',
    load: async () => (await import('./chain.ts')).labChainCommand,
  },
  clock: {
    summary: 'Move, freeze and release the time of a sandbox that runs.',
    load: async () => (await import('./clock.ts')).clockCommand,
  },
  faults: {
    summary: 'Meet requests, nodes and webhooks of a sandbox that runs with faults, by a plan.',
    load: async () => (await import('./faults.ts')).faultsCommand,
  },
  faucet: {
    summary: 'Pay any amount of a test coin to any address, on a chain of a sandbox that runs.',
    load: async () => (await import('./faucet.ts')).faucetCommand,
  },
  snapshot: {
    summary: 'Save and restore the state of a sandbox that runs.',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  reset: {
    summary: 'Return a sandbox that runs to the state of its first start.',
    load: async () => (await import('./snapshot.ts')).resetCommand,
  },
}
