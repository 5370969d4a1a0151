/** Acts on cross-chain messages and unified balances by their users, by chains that reorganise, and by servers that die. */
import { encodeFunctionData } from 'viem'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import type { WorkerPool } from '#testing/adversary/worker-pool'
import type { TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import { type CrosschainMessages, type Hex, messageTransmitter } from './burns.ts'
import {
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  wallet,
} from './unified-balances.ts'

/** Numbers choose a chain or a depositor, modulo how many there are. Amounts are base units. */
export type Act =
  | { kind: 'burn'; from: number; amount: bigint; fast: boolean; forwards: boolean; deliver: boolean }
  | { kind: 'deposit' | 'withdraw' | 'endWithdrawal'; who: number; from: number; amount: bigint }
  | { kind: 'spend'; who: number; from: number; amount: bigint; both: boolean; mint: boolean; twice: boolean }
  | { kind: 'reorg'; on: number; depth: number }
  | { kind: 'die'; point: Failpoint; hit: number }

type ActOf<Kind extends Act['kind']> = Extract<Act, { kind: Kind }>

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
export function openActors(world: World) {
  const { chains, unified, pool } = world
  const burns: SentBurn[] = []
  const chainAt = (index: number) => chains[index % chains.length]!
  return {
    perform: async (act: Act): Promise<void> => {
      if (act.kind === 'die') return pool.arm([{ point: act.point, hit: act.hit, action: 'kill' }])
      if (act.kind === 'reorg') return reorganise(chainAt(act.on), act.depth)
      const source = chainAt(act.from)
      const into = chainAt(act.from + 1)
      if (act.kind === 'burn') {
        const sent = await burn(world, act, source, into)
        if (act.deliver) await deliver(world, sent)
        burns.push(sent)
      } else if (act.kind === 'spend') await spend(world, act, [source, chainAt(act.from + 2)], into)
      else if (act.kind === 'deposit')
        await unified.pay(source, depositors[act.who]!.address, act.amount * 2n)
      else if (act.kind === 'withdraw') await withdraw(world, source, act)
      else {
        await source.mine(25)
        await unified
          .callWallet(source, depositors[act.who]!.address, 'withdraw', [source.tokens.USDC])
          .catch(() => undefined)
      }
    },
    /** Delivers all burns, and forgets them. */
    deliverAll: async (): Promise<void> => {
      for (const sent of burns.splice(0)) await deliver(world, sent)
    },
  }
}

async function burn(
  { messages }: World,
  { amount, fast, forwards }: ActOf<'burn'>,
  from: TestChain,
  into: TestChain,
): Promise<SentBurn> {
  // The fees of the speed and of the delivery.
  const maxFee = (fast ? amount / 10_000n + 101n : 0n) + (forwards ? 200_000n : 0n)
  const hash = await messages.burn(from, into, {
    amount: amount + 1_000_000n,
    maxFee,
    threshold: fast ? confirmedThreshold : finalizedThreshold,
    ...(forwards && { hookData: forwardHookData }),
  })
  return { from, into, hash, forwards }
}

/** Delivers a burn unless the service does, and tries to deliver it once more. */
async function deliver({ messages }: World, { from, into, hash, forwards }: SentBurn): Promise<void> {
  const message = await messages.messageWhen(
    from,
    hash,
    ({ status, forwardState }) =>
      status === 'complete' && (!forwards || ['COMPLETE', 'FAILED'].includes(forwardState)),
  )
  if (!(await isReceived(into, message.eventNonce)) && !(await messages.deliver(into, message)).ok)
    throw new Error(`the message ${message.eventNonce} cannot be delivered`)
  if ((await messages.deliver(into, message)).ok)
    throw new Error(`the message ${message.eventNonce} was delivered twice`)
}

async function isReceived(into: TestChain, nonce: Hex): Promise<boolean> {
  const data = encodeFunctionData({ abi: messageTransmitterV2Abi, functionName: 'usedNonces', args: [nonce] })
  return BigInt(await into.rpc<Hex>('eth_call', [{ to: messageTransmitter, data }, 'latest'])) === 1n
}

async function spend(
  { unified }: World,
  { who, amount, both, mint, twice }: ActOf<'spend'>,
  sources: readonly [TestChain, TestChain],
  into: TestChain,
): Promise<void> {
  const person = depositors[who]!
  const [first, second] = sources.map((source) =>
    intentOf(specOf(source, into, person.address, { value: amount })),
  )
  const body = both ? await signedSet(person, [first!, second!]) : await signedIntent(person, first!)
  const answer = await unified.transfer([body])
  if (answer.status !== 201) {
    if (answer.body.code !== 178001) throw new Error(`the transfer was refused: ${answer.text}`)
    return
  }
  if (!mint) return
  await unified.mint(into, answer.body)
  if (!twice) return
  const again = unified.mint(into, answer.body).then(
    () => true,
    () => false,
  )
  if (await again) throw new Error(`the transfer ${answer.body.transferId} was minted twice`)
}

async function withdraw(
  { unified }: World,
  source: TestChain,
  { who, amount }: ActOf<'deposit' | 'withdraw' | 'endWithdrawal'>,
): Promise<void> {
  const { address } = depositors[who]!
  const token = source.tokens.USDC
  const available = await unified.read(source, wallet, 'availableBalance', [token, address])
  const taken = available < amount ? available : amount
  if (taken > 0n) await unified.callWallet(source, address, 'initiateWithdrawal', [token, taken])
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
    const hash = await chain.rpc<Hex>('eth_sendRawTransaction', [raw]).catch((error) => {
      if (!/already known|already imported|nonce too low/i.test(String(error))) throw error
    })
    const isMined = async () => (await chain.rpc('eth_getTransactionReceipt', [hash as Hex])) !== null
    if (hash) await until(isMined, `${hash} is mined again`)
  }
}
