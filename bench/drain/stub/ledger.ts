import { randomBytes } from 'node:crypto'
import {
  concat,
  decodeFunctionData,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  parseTransaction,
  serializeTransaction,
} from 'viem'
import { bloomOf } from '#chains/evm/blocks/bloom'
import { recoverSigner } from '#chains/evm/signing/recover-signer'
import { type Hex, hexOf } from '#lib/hex'

const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])
/** keccak256 of Transfer(address,address,uint256). */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** The root of the transactions of an empty block. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Gas of one transfer of USDC, as the local node measures it. */
const gasUsed = 45_000n

export type RawHeader = Record<string, unknown> & {
  number: Hex
  hash: Hex
  timestamp: Hex
  baseFeePerGas: Hex
}

type SignedTransaction = ReturnType<typeof parseTransaction> & { r: Hex; s: Hex; yParity: number; v?: bigint }
type Taken = {
  data: Hex
  chainId: number
  hash: Hex
  from: Hex
  nonce: number
  to: Hex
  amount: bigint
  maxFee: bigint
  tip: bigint
}
type Log = { address: Hex; topics: Hex[]; data: Hex } & Record<string, unknown>
export type StubBlock = { header: RawHeader; transactions: object[]; receipts: object[]; logs: Log[] }

/** An error as a node answers it. */
export class Refused extends Error {}

/** What the stub asks the node behind it about an address, when it first needs it. */
export type Opening = {
  nonceOf(address: Hex): Promise<number>
  coinsOf(address: Hex): Promise<[usdc: bigint, native: bigint]>
}

/**
 * The chain of a node without a virtual machine: transfers of USDC, from the newest block of the node behind it on. It has nonces, balances
 * at every block, receipts, logs and blooms as a chain has, and no other effect.
 */
export class StubLedger {
  readonly blocks: StubBlock[] = []
  readonly byHash = new Map<string, StubBlock>()
  readonly receipts = new Map<string, object>()
  readonly #pool = new Map<string, Map<number, Taken>>()
  readonly #nonces = new Map<string, number>()
  /** The balances of an address after the blocks that changed them, the oldest first. */
  readonly #coins = new Map<string, { number: number; usdc: bigint; native: bigint }[]>()

  readonly base: RawHeader
  readonly usdc: Hex
  readonly #opening: Opening

  constructor(base: RawHeader, usdc: Hex, opening: Opening) {
    this.base = base
    this.usdc = usdc
    this.#opening = opening
  }

  get head(): RawHeader {
    return this.blocks.at(-1)?.header ?? this.base
  }

  get baseNumber(): number {
    return Number(this.base.number)
  }

  block(number: number): StubBlock | undefined {
    return this.blocks[number - this.baseNumber - 1]
  }

  async nonceOf(address: string): Promise<number> {
    const key = address.toLowerCase()
    const known = this.#nonces.get(key) ?? (await this.#opening.nonceOf(key as Hex))
    if (!this.#nonces.has(key)) this.#nonces.set(key, known)
    return this.#nonces.get(key)!
  }

  async coinsOf(
    address: string,
    number = Number.POSITIVE_INFINITY,
  ): Promise<{ usdc: bigint; native: bigint }> {
    const key = address.toLowerCase() as Hex
    if (!this.#coins.has(key)) {
      const [usdc, native] = await this.#opening.coinsOf(key)
      if (!this.#coins.has(key)) this.#coins.set(key, [{ number: this.baseNumber, usdc, native }])
    }
    return this.#coins.get(key)!.findLast((each) => each.number <= number) ?? this.#coins.get(key)![0]!
  }

  /** Takes a signed transfer into the pool, by the rules of a node. */
  async take(raw: Hex): Promise<Hex> {
    const transaction = parseTransaction(raw)
    const hash = keccak256(raw)
    const { r, s, yParity, v: _, ...unsigned } = transaction as SignedTransaction
    const digest = keccak256(serializeTransaction(unsigned as never))
    const from = (await recoverSigner(
      digest,
      concat([pad(r, { size: 32 }), pad(s, { size: 32 }), numberToHex(27 + yParity)]),
    )) as Hex
    const { nonce = 0, to, data, chainId = 0 } = transaction
    if (to?.toLowerCase() !== this.usdc.toLowerCase() || !data)
      throw new Refused('the stub executes transfers of USDC alone')
    const { args } = decodeFunctionData({ abi, data })
    if (nonce < (await this.nonceOf(from))) throw new Refused('nonce too low')
    const waiting = this.#pool.get(from) ?? new Map<number, Taken>()
    if (waiting.get(nonce)?.hash === hash) throw new Refused('already known')
    const fees = { maxFee: transaction.maxFeePerGas ?? 0n, tip: transaction.maxPriorityFeePerGas ?? 0n }
    const payee = args[0].toLowerCase() as Hex
    waiting.set(nonce, { data, chainId, hash, from, nonce, to: payee, amount: args[1], ...fees })
    this.#pool.set(from, waiting)
    return hash
  }

  /** Makes a block of all that is next in the pool. */
  async mine(): Promise<void> {
    const number = Number(this.head.number) + 1
    const hash = hexOf(randomBytes(32))
    const place = { blockHash: hash, blockNumber: numberToHex(number) }
    const block: StubBlock = { header: this.head, transactions: [], receipts: [], logs: [] }
    for (const [from, waiting] of this.#pool)
      for (let nonce = await this.nonceOf(from); ; nonce++) {
        const next = waiting.get(nonce)
        if (!next || !(await this.#execute(next, number, place, block))) break
        waiting.delete(nonce)
      }
    block.header = {
      ...this.base,
      number: place.blockNumber,
      hash,
      parentHash: this.head.hash,
      timestamp: numberToHex(Math.max(Number(this.head.timestamp) + 1, Math.floor(Date.now() / 1_000))),
      logsBloom: numberToHex(bloomOf(block.logs as never), { size: 256 }),
      transactionsRoot: block.transactions.length > 0 ? hash : emptyRoot,
      gasUsed: numberToHex(gasUsed * BigInt(block.transactions.length)),
    }
    this.blocks.push(block)
    this.byHash.set(hash, block)
  }

  async #execute(sent: Taken, number: number, place: object, block: StubBlock): Promise<boolean> {
    const { hash, from, to, amount, nonce } = sent
    const price = BigInt(this.base.baseFeePerGas) + sent.tip
    const payer = await this.coinsOf(from)
    if (payer.usdc < amount || payer.native < gasUsed * price) return false
    const paid = { number, usdc: payer.usdc - amount, native: payer.native - gasUsed * price }
    this.#coins.get(from)!.push(paid)
    const payee = await this.coinsOf(to)
    this.#coins.get(to)!.push({ ...payee, number, usdc: payee.usdc + amount })
    this.#nonces.set(from, nonce + 1)
    const index = numberToHex(block.transactions.length)
    const at = { ...place, transactionIndex: index }
    const topics = [transferTopic, topicOf(from), topicOf(to)] as Hex[]
    const log = { address: this.usdc, topics, data: numberToHex(amount, { size: 32 }), ...at, removed: false }
    const logged = { ...log, transactionHash: hash, logIndex: numberToHex(block.logs.length) }
    const used = numberToHex(gasUsed)
    const receipt = {
      ...at,
      transactionHash: hash,
      type: '0x2',
      status: '0x1',
      from,
      to: this.usdc,
      contractAddress: null,
      gasUsed: used,
      cumulativeGasUsed: used,
      effectiveGasPrice: numberToHex(price),
      logs: [logged],
      logsBloom: numberToHex(bloomOf([log] as never), { size: 256 }),
    }
    block.transactions.push({
      ...at,
      hash,
      type: '0x2',
      from,
      to: this.usdc,
      nonce: numberToHex(nonce),
      value: '0x0',
      input: sent.data,
      chainId: numberToHex(sent.chainId),
      maxFeePerGas: numberToHex(sent.maxFee),
      maxPriorityFeePerGas: numberToHex(sent.tip),
    })
    block.receipts.push(receipt)
    block.logs.push(logged)
    this.receipts.set(hash, receipt)
    return true
  }
}

const topicOf = (address: Hex) => `0x${address.slice(2).padStart(64, '0')}`
