import { setTimeout as delay } from 'node:timers/promises'
import { parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import { hexQuantity } from '../chains/evm-chain.ts'
import type { EvmLocalChain } from '../chains/local-chain.ts'
import { gweiDecimals } from './state.ts'

const gweiMax = 1_000_000n
const weiMax = gweiMax * 10n ** BigInt(gweiDecimals)
const lookEveryMs = 50

export type BaseFees = {
  /** Sets the base fee of the next blocks. */
  set(chain: EvmLocalChain, gwei: string, blocks: number): Promise<void>
  /** Sets it to a multiple of that of the newest block, at most the highest of `set`. */
  multiply(chain: EvmLocalChain, times: number, blocks: number): Promise<void>
  stop(): Promise<void>
}

/** Holds base fees: the node sets that of one block, and the rule of the chain moves those that follow by an eighth each. */
export function openBaseFees(): BaseFees {
  const holds = new Map<string, { end: AbortController; done: Promise<void> }>()
  const release = async (blockchain: string) => {
    const hold = holds.get(blockchain)
    holds.delete(blockchain)
    hold?.end.abort()
    await hold?.done
  }
  const setWei = async (chain: EvmLocalChain, wei: bigint, blocks: number) => {
    const fee = hexQuantity(wei < weiMax ? wei : weiMax)
    await release(chain.blockchain)
    const head = Number(await chain.ask('eth_blockNumber'))
    await chain.ask(setNext, [fee])
    if (blocks === 1) return
    const end = new AbortController()
    holds.set(chain.blockchain, { end, done: hold(chain, fee, head + blocks, head, end.signal) })
  }
  return {
    set: async (chain, gwei, blocks) => setWei(chain, weiOf(gwei), blocks),
    multiply: async (chain, times, blocks) => {
      const wei = await baseFeeOf(chain)
      await setWei(chain, (wei * BigInt(Math.round(times * 1_000))) / 1_000n, blocks)
    },
    stop: async () => void (await Promise.all([...holds.keys()].map(release))),
  }
}

/** The base fee that a factor applies to, at least: that of an idle chain sinks to almost nothing. */
const multipliedMinWei = 1_000_000_000n

async function baseFeeOf(chain: EvmLocalChain): Promise<bigint> {
  const { baseFeePerGas } = await chain.ask<{ baseFeePerGas: string }>('eth_getBlockByNumber', [
    'latest',
    false,
  ])
  const wei = BigInt(baseFeePerGas)
  return wei > multipliedMinWei ? wei : multipliedMinWei
}

const setNext = 'anvil_setNextBlockBaseFeePerGas'

/** Sets the fee again after each block up to the one before `last`, also while a node is started again. */
async function hold(chain: EvmLocalChain, fee: string, last: number, from: number, signal: AbortSignal) {
  for (let head = from; head < last && !signal.aborted; ) {
    await delay(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined)
    const now = Number(await chain.ask('eth_blockNumber').catch(() => head))
    if (now !== head && now < last && !signal.aborted) await chain.ask(setNext, [fee]).catch(() => undefined)
    head = now
  }
}

function weiOf(gwei: string): bigint {
  const wei = parseAmount(gwei, gweiDecimals)
  if (typeof wei === 'bigint' && wei <= weiMax) return wei
  throw invalid({
    at: 'gwei',
    reason: `must be a decimal number from 0 to ${gweiMax} with at most ${gweiDecimals} decimals, such as "30.5"`,
    value: gwei,
  })
}
