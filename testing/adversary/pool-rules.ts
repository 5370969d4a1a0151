/**
 * The rules by which nodes in use take a signed transaction into their pools, worded as geth words them. The local node
 * has hardly any of them: it takes replacements that pay 5 % more, or only a higher cap, and any number of transactions.
 */
import { keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'

type Hex = `0x${string}`

export type PoolRules = {
  /** Executable transactions of one account: geth guarantees this number, and others refuse more. */
  executableMax: number
  /** Queued transactions of one account: those that wait for a lower nonce. */
  queuedMax: number
  /** Percentage by which a replacement must raise both its cap and its tip. */
  priceBumpPercent: number
  tipMinAtomic: bigint
  /** Lifetime of a queued transaction, after which it is dropped. */
  queuedLifetimeMs: number
  /** An account that delegates (EIP-7702) has at most this many in flight, and no gaps. */
  delegatedMax: number
  bytesMax: number
  /** Drops one transaction of the pool after each send, with a chance of one in this number. 0: never. */
  evictOneIn: number
}

export const gethRules: PoolRules = {
  executableMax: 16,
  queuedMax: 64,
  priceBumpPercent: 10,
  tipMinAtomic: 1n,
  queuedLifetimeMs: 3 * 60 * 60_000,
  delegatedMax: 1,
  bytesMax: 128 * 1024,
  evictOneIn: 0,
}

export type Rule =
  | 'malformed'
  | 'chain-id'
  | 'size'
  | 'gas-limit'
  | 'tip-above-cap'
  | 'intrinsic-gas'
  | 'tip-minimum'
  | 'nonce-too-low'
  | 'balance'
  | 'replacement'
  | 'executable-slots'
  | 'queued-slots'
  | 'delegated'
  /** The node behind refused a transaction that passed all rules. */
  | 'node'

export type Refusal = { rule: Rule; message: string }

export type Signed = {
  raw: Hex
  hash: Hex
  from: Hex
  nonce: number
  chainId: number
  gas: bigint
  feeCap: bigint
  tipCap: bigint
  /** The highest amount that it can take from its sender. */
  cost: bigint
  dataFloorGas: bigint
}

/** `passedOn`: the node behind has it; a queued transaction stays here, where it can be dropped. */
export type Pooled = Signed & { sinceMs: number; passedOn: boolean }

/** The account of the sender according to the node behind, and its newest block. */
export type Account = { nonce: number; balance: bigint; delegated: boolean }
export type Head = { chainId: number; gasLimit: bigint }

/** Parses signed bytes; `undefined` when they are no transaction. */
export async function readSigned(raw: Hex): Promise<Signed | undefined> {
  try {
    const parsed = parseTransaction(raw as TransactionSerialized)
    const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
    const { nonce = 0, gas = 0n, value = 0n, data = '0x', to, chainId = 0 } = parsed
    const feeCap = ('maxFeePerGas' in parsed ? parsed.maxFeePerGas : parsed.gasPrice) ?? 0n
    const tipCap = ('maxFeePerGas' in parsed ? (parsed.maxPriorityFeePerGas ?? 0n) : feeCap) ?? 0n
    return {
      raw,
      hash: keccak256(raw),
      from: from.toLowerCase() as Hex,
      nonce,
      chainId,
      gas,
      feeCap,
      tipCap,
      cost: gas * feeCap + value,
      dataFloorGas: intrinsicGas(data, to == null),
    }
  } catch {
    return undefined
  }
}

/** EIP-2028 and EIP-3860, or the floor of EIP-7623 where that is more. */
function intrinsicGas(data: Hex, creates: boolean): bigint {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = BigInt(bytes.filter((byte) => byte === 0).length)
  const tokens = zeros + 4n * (BigInt(bytes.length) - zeros)
  const creation = creates ? 32_000n + 2n * ((BigInt(bytes.length) + 31n) / 32n) : 0n
  const used = 21_000n + 4n * tokens + creation
  const floor = 21_000n + 10n * tokens
  return used > floor ? used : floor
}

/** Checks the transaction by itself, whatever the pool holds. */
export function refusedAlone(signed: Signed, head: Head, rules: PoolRules): Refusal | undefined {
  const { gas, feeCap, tipCap, dataFloorGas } = signed
  const bytes = (signed.raw.length - 2) / 2
  if (bytes > rules.bytesMax)
    return { rule: 'size', message: `oversized data: transaction size ${bytes}, limit ${rules.bytesMax}` }
  if (gas > head.gasLimit) return { rule: 'gas-limit', message: 'exceeds block gas limit' }
  if (tipCap > feeCap)
    return { rule: 'tip-above-cap', message: 'max priority fee per gas higher than max fee per gas' }
  if (signed.chainId !== head.chainId) {
    const message = `invalid sender: invalid chain id for signer: have ${signed.chainId} want ${head.chainId}`
    return { rule: 'chain-id', message }
  }
  if (gas < dataFloorGas)
    return {
      rule: 'intrinsic-gas',
      message: `intrinsic gas too low: gas ${gas}, minimum needed ${dataFloorGas}`,
    }
  if (tipCap < rules.tipMinAtomic) {
    const message = `transaction underpriced: gas tip cap ${tipCap}, minimum needed ${rules.tipMinAtomic}`
    return { rule: 'tip-minimum', message }
  }
  return undefined
}

/** Checks the transaction against the sender's account and against `pooled`, the sender's transactions in the pool. */
export function refusedInPool(
  signed: Signed,
  account: Account,
  pooled: ReadonlyMap<number, Pooled>,
  rules: PoolRules,
): Refusal | undefined {
  const { nonce, cost } = signed
  if (nonce < account.nonce) {
    const message = `nonce too low: next nonce ${account.nonce}, tx nonce ${nonce}`
    return { rule: 'nonce-too-low', message }
  }
  const replaced = pooled.get(nonce)
  let queuedCost = 0n
  for (const other of pooled.values()) queuedCost += other.cost
  const due = queuedCost + cost - (replaced?.cost ?? 0n)
  if (account.balance < due) {
    const { balance } = account
    const what = `balance ${balance}, queued cost ${queuedCost}, tx cost ${cost}, overshot ${due - balance}`
    return { rule: 'balance', message: `insufficient funds for gas * price + value: ${what}` }
  }
  if (replaced) return refusedReplacement(signed, replaced, rules)
  return refusedSlot(signed, account, pooled, rules)
}

/** Checks that cap and tip both rise by the bump; integers are truncated as nodes truncate them. */
function refusedReplacement(signed: Signed, old: Signed, rules: PoolRules): Refusal | undefined {
  const bumped = (value: bigint) => (value * BigInt(100 + rules.priceBumpPercent)) / 100n
  const enough =
    signed.feeCap > old.feeCap &&
    signed.tipCap > old.tipCap &&
    signed.feeCap >= bumped(old.feeCap) &&
    signed.tipCap >= bumped(old.tipCap)
  return enough ? undefined : { rule: 'replacement', message: 'replacement transaction underpriced' }
}

function refusedSlot(
  { nonce }: Signed,
  account: Account,
  pooled: ReadonlyMap<number, Pooled>,
  rules: PoolRules,
): Refusal | undefined {
  const executable = executableCount(account.nonce, pooled)
  const isExecutable = nonce === account.nonce + executable
  if (account.delegated && !isExecutable)
    return { rule: 'delegated', message: 'gapped-nonce tx from delegated accounts' }
  if (account.delegated && pooled.size >= rules.delegatedMax)
    return { rule: 'delegated', message: 'in-flight transaction limit reached for delegated accounts' }
  const full = (count: number) => `account limit exceeded: pooled ${count} txs`
  if (isExecutable && executable >= rules.executableMax)
    return { rule: 'executable-slots', message: full(executable) }
  const queued = pooled.size - executable
  if (!isExecutable && queued >= rules.queuedMax) return { rule: 'queued-slots', message: full(queued) }
  return undefined
}

/** Number of transactions with consecutive nonces from the account's next nonce on. */
export function executableCount(nextNonce: number, pooled: ReadonlyMap<number, Pooled>): number {
  let count = 0
  while (pooled.has(nextNonce + count)) count += 1
  return count
}
