import { canonicalAddress } from '#chains/addresses/canonical'
import type { NodeCall } from './rpc.ts'

/** Settings of a node that its state lacks: the last request of each is repeated after a start. */
export type Settings = {
  note(method: string, params: readonly unknown[]): void
  /** Removes the settings for the next block only, which a mined block has used. */
  blockMined(): void
  list(): NodeCall[]
  /** Returns the unused settings for the next block. */
  pending(): NodeCall[]
}

const lasting = new Set([
  'autoImpersonateAccount',
  'setBlockGasLimit',
  'setBlockTimestampInterval',
  'setCoinbase',
  'setMinGasPrice',
])
const forNextBlock = new Set(['setNextBlockBaseFeePerGas', 'setNextBlockTimestamp'])

export function createSettings(): Settings {
  const kept = new Map<string, NodeCall>()
  const note = (method: string, params: readonly unknown[]) => {
    const name = method.slice(method.indexOf('_') + 1)
    const account = canonicalAddress(String(params[0]))
    if (name === 'impersonateAccount') kept.set(`impersonate ${account}`, { method, params })
    else if (name === 'stopImpersonatingAccount') kept.delete(`impersonate ${account}`)
    else if (name === 'removeBlockTimestampInterval') kept.delete('setBlockTimestampInterval')
    else if (lasting.has(name) || forNextBlock.has(name)) kept.set(name, { method, params })
  }
  return {
    note,
    blockMined: () => {
      for (const name of forNextBlock) kept.delete(name)
    },
    list: () => [...kept.values()],
    pending: () => [...kept].filter(([name]) => forNextBlock.has(name)).map(([, call]) => call),
  }
}
