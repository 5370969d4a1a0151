/** Acts on cross-chain messages and unified balances by their users, by chains that reorganise, and by servers that die. */
import { encodeFunctionData } from 'viem'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import type { Failpoint } from '#lib/failpoints'
import type { WorkerPool } from './adversary/worker-pool.ts'
import { type CrosschainMessages, type Hex, messageTransmitter } from './burns.ts'
import type { TestChain } from './chain.ts'
import {
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  wallet,
} from './unified-balances.ts'
import { until } from './until.ts'

/** Numbers choose a chain or a depositor, modulo how many there are. Amounts are base units. */
export type Act =
  | { kind: 'burn'; from: number; amount: bigint; fast: boolean; forwards: boolean; deliver: boolean }
  | { kind: 'deposit' | 'withdraw' | 'endWithdrawal'; who: number; from: number; amount: bigint }
  | { kind: 'spend'; who: number; from: number; amount: bigint; both: boolean; mint: boolean; twice: boolean }
  | { kind: 'reorg'; on: number; depth: number }
  | { kind: 'die'; point: Failpoint; hit: number }

/** Places between two steps of following a chain, attesting, delivering, burning and sending. */
export const deadlyPoints = [
  'before-block-insert',
  'before-block-commit',
  'after-block-commit',
  'during-block-rollback',
  'before-cursor-advance',
  'before-message-commit',
  'after-message-commit',
  'before-forward-commit',
  'after-forward-commit',
  'before-attestation-commit',
  'after-attestation-commit',
  'before-burn-commit',
  'after-burn-commit',
  'after-attempt-commit',
  'before-send',
  'before-send-answer',
  'before-send-record',
] as const satisfies readonly Failpoint[]

export const depositors = people.slice(0, 3)

type SentBurn = { from: TestChain; into: TestChain; hash: Hex; forwards: boolean }
type World = {
  chains: readonly TestChain[]
  messages: CrosschainMessages
  unified: UnifiedBalances
  pool: WorkerPool
}

/** Performs acts, and remembers the burns that are to be delivered. */
export function openActors({ chains, messages, unified, pool }: World) {
  const burns: SentBurn[] = []
  const chainAt = (index: number) => chains[index % chains.length]!
  const received = async ({ into }: SentBurn, nonce: Hex) => {
    const data = encodeFunctionData({
      abi: messageTransmitterV2Abi,
      functionName: 'usedNonces',
      args: [nonce],
    })
    return BigInt(await into.rpc<Hex>('eth_call', [{ to: messageTransmitter, data }, 'latest'])) === 1n
  }
  /** Delivers a burn unless the service does, and shows that it is delivered once. */
  const deliver = async (burn: SentBurn) => {
    const message = await messages.messageWhen(
      burn.from,
      burn.hash,
      ({ status, forwardState }) =>
        status === 'complete' && (!burn.forwards || ['COMPLETE', 'FAILED'].includes(forwardState)),
    )
    if (!(await received(burn, message.eventNonce))) {
      const { ok, hash } = await messages.deliver(burn.into, message)
      if (!ok) throw new Error(`the message ${message.eventNonce} cannot be delivered: ${hash}`)
    }
    if ((await messages.deliver(burn.into, message)).ok)
      throw new Error(`the message ${message.eventNonce} was delivered twice`)
  }
  const burn = async ({ from, amount, fast, forwards, deliver: now }: Extract<Act, { kind: 'burn' }>) => {
    const [source, into] = [chainAt(from), chainAt(from + 1)]
    // A tenth of a thousandth for the speed, and what the forwarder takes.
    const maxFee = (fast ? amount / 10_000n + 1n : 0n) + (forwards ? 200_000n : 0n)
    const hash = await messages.burn(source, into, {
      ...{ amount: amount + 1_000_000n, maxFee: maxFee + 100n },
      threshold: fast ? confirmedThreshold : finalizedThreshold,
      ...(forwards && { hookData: forwardHookData }),
    })
    const sent = { from: source, into, hash, forwards }
    burns.push(sent)
    if (now) await deliver(sent)
  }
  const spend = async ({ who, from, amount, both, mint, twice }: Extract<Act, { kind: 'spend' }>) => {
    const person = depositors[who]!
    const destination = chainAt(from + 1)
    const intent = (index: number) =>
      intentOf(specOf(chainAt(index), destination, person.address, { value: amount }))
    const body = both
      ? [await signedSet(person, [intent(from), intent(from + 2)])]
      : [await signedIntent(person, intent(from))]
    const answer = await unified.transfer(body)
    if (answer.status !== 201) {
      if (answer.body.code !== 178001) throw new Error(`the transfer was refused: ${answer.text}`)
      return
    }
    if (!mint) return
    await unified.mint(destination, answer.body)
    if (!twice) return
    const again = await unified.mint(destination, answer.body).then(
      () => true,
      () => false,
    )
    if (again) throw new Error(`the transfer ${answer.body.transferId} was minted twice`)
  }
  const withdraw = async (source: TestChain, address: string, amount: bigint) => {
    const available = await unified.read(source, wallet, 'availableBalance', [source.tokens.USDC, address])
    if (available > 0n)
      await unified.callWallet(source, address, 'initiateWithdrawal', [
        source.tokens.USDC,
        available < amount ? available : amount,
      ])
  }
  return {
    perform: async (act: Act): Promise<void> => {
      if (act.kind === 'die') return pool.arm([{ point: act.point, hit: act.hit, action: 'kill' }])
      if (act.kind === 'reorg') return reorganise(chainAt(act.on), act.depth)
      if (act.kind === 'burn') return burn(act)
      if (act.kind === 'spend') return spend(act)
      const source = chainAt(act.from)
      const { address } = depositors[act.who]!
      if (act.kind === 'deposit') await unified.pay(source, address, act.amount * 2n)
      else if (act.kind === 'withdraw') await withdraw(source, address, act.amount)
      else {
        await source.mine(25)
        await unified.callWallet(source, address, 'withdraw', [source.tokens.USDC]).catch(() => undefined)
      }
    },
    /** Delivers all burns, and forgets them. */
    deliverAll: async (): Promise<void> => {
      for (const sent of burns.splice(0)) await deliver(sent)
    },
  }
}

/** Replaces the newest blocks, and sends their transactions again, as nodes do. */
async function reorganise(chain: TestChain, depth: number): Promise<void> {
  const height = await chain.height()
  const lost: Hex[] = []
  for (let number = Math.max(1, height - depth + 1); number <= height; number++) {
    const block = await chain.rpc<{ transactions: Hex[] }>('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      false,
    ])
    for (const hash of block.transactions)
      lost.push(await chain.rpc<Hex>('eth_getRawTransactionByHash', [hash]))
  }
  await chain.reorg(depth)
  for (const raw of lost) {
    // The server sends its own again too.
    await chain.rpc('eth_sendRawTransaction', [raw]).catch((error) => {
      if (!/already known|already imported|nonce too low/i.test(String(error))) throw error
    })
  }
  await until(async () => (await chain.height()) >= height, `${chain.blockchain} has its height again`)
}
