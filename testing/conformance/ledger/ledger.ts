import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Hex } from '#lib/hex'

/** The text that an account signs: who pays whom how much of what, at which place in the account's order, for which price. */
export type LedgerOrder = {
  from: string
  to: string
  /** Absent for the native coin. */
  token?: string | undefined
  amount: string
  place: number
  price: string
  tip: string
  limit: string
}

/** An order in a block. `limit` is 0 for coins from nowhere, which no account signed. */
export type LedgerEntry = LedgerOrder & { id: string; success: boolean; fee: string }

export type LedgerBlock = {
  number: number
  hash: Hex
  parentHash: Hex
  timeMs: number
  orders: LedgerEntry[]
}

export type LedgerRefusal = 'used' | 'poor' | 'outbid' | 'invalid'

/** The work that each order takes, in units that its price is paid for. */
export const workOfOrder = 10n

/** The start of a public key in DER; the address of an account is the rest. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

const idOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** Reads an order with the signature behind it; `undefined` where the bytes are none. */
export function readLedgerOrder(raw: Hex): { order: LedgerOrder; id: string } | undefined {
  try {
    const bytes = Buffer.from(raw.slice(2), 'hex')
    const [message, signature] = [bytes.subarray(0, -64), bytes.subarray(-64)]
    const order = JSON.parse(message.toString('utf8')) as LedgerOrder
    const key = Buffer.concat([derPrefix, Buffer.from(order.from, 'hex')])
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
    return verify(null, message, publicKey, signature) ? { order, id: idOf(bytes) } : undefined
  } catch {
    return undefined
  }
}

type State = { balances: Map<string, bigint>; places: Map<string, number> }
type Waiting = { order: LedgerOrder; id: string }

const keyOf = (address: string, token?: string) => `${address} ${token ?? ''}`

const balanceIn = ({ balances }: State, address: string, token?: string) =>
  balances.get(keyOf(address, token)) ?? 0n

const add = (state: State, address: string, amountAtomic: bigint, token?: string) =>
  void state.balances.set(keyOf(address, token), balanceIn(state, address, token) + amountAtomic)

const feeOf = ({ price }: LedgerOrder) => workOfOrder * BigInt(price)

/** The fee is paid by failed orders too: those of coins that the account does not have. */
function execute(state: State, { order, id }: Waiting): LedgerEntry {
  const { from, to, token, place } = order
  const amountAtomic = BigInt(order.amount)
  const canPay = balanceIn(state, from) >= feeOf(order)
  if (canPay) add(state, from, -feeOf(order))
  const success = canPay && balanceIn(state, from, token) >= amountAtomic
  if (success) {
    add(state, from, -amountAtomic, token)
    add(state, to, amountAtomic, token)
  }
  state.places.set(from, place + 1)
  return { ...order, id, success, fee: String(canPay ? feeOf(order) : 0n) }
}

/**
 * The state of a chain that is nothing like EVM and has what every family must have: accounts whose address is an Ed25519 key,
 * orders of payment that are signed as text, blocks without logs.
 */
export class Ledger {
  /** Whether each order is mined at once. */
  automine = true
  readonly #blocks: LedgerBlock[] = []
  readonly #states: State[] = []
  readonly #waiting = new Map<string, Waiting>()
  #forks = 0

  constructor() {
    this.#append({ balances: new Map(), places: new Map() }, [])
  }

  /** Gives coins from nowhere, in a block of its own. */
  fund(to: string, amountAtomic: bigint, token?: string): void {
    const state = this.#copy()
    add(state, to, amountAtomic, token)
    const place = this.#blocks.length
    const order = { from: '0'.repeat(64), to, token, amount: String(amountAtomic), place }
    const id = idOf(`fund ${place} ${this.#forks}`)
    this.#append(state, [{ ...order, price: '0', tip: '0', limit: '0', success: true, fee: '0', id }])
  }

  mine(): LedgerBlock {
    const state = this.#copy()
    const orders: LedgerEntry[] = []
    const nextOf = () =>
      [...this.#waiting].find(([, { order }]) => order.place === (state.places.get(order.from) ?? 0))
    for (let next = nextOf(); next; next = nextOf()) {
      this.#waiting.delete(next[0])
      orders.push(execute(state, next[1]))
    }
    return this.#append(state, orders)
  }

  /** Removes the newest blocks; their orders wait again. */
  rewind(count: number): void {
    this.#forks++
    this.#states.splice(-count)
    for (const { orders } of this.#blocks.splice(-count))
      for (const { id, success: _, fee: __, ...order } of orders)
        if (BigInt(order.limit) > 0n) this.#waiting.set(`${order.from} ${order.place}`, { order, id })
  }

  submit(raw: Hex): { id: string } | { refused: LedgerRefusal } {
    const read = readLedgerOrder(raw)
    if (!read) return { refused: 'invalid' }
    const { order, id } = read
    if (this.#blocks.some(({ orders }) => orders.some((each) => each.id === id))) return { id }
    if (order.place < this.placeOf(order.from)) return { refused: 'used' }
    const slot = `${order.from} ${order.place}`
    const rival = this.#waiting.get(slot)
    if (rival && rival.id !== id && BigInt(order.price) * 10n < BigInt(rival.order.price) * 11n)
      return { refused: 'outbid' }
    const coins = order.token === undefined ? BigInt(order.amount) : 0n
    if (this.balanceOf(order.from) < feeOf(order) + coins) return { refused: 'poor' }
    this.#waiting.set(slot, { order, id })
    if (this.automine) this.mine()
    return { id }
  }

  head = (): LedgerBlock => this.#blocks.at(-1)!

  blockOf = (key: number | Hex): LedgerBlock | undefined =>
    this.#blocks.find(({ number, hash }) => number === key || hash === key)

  /** The place of the next order of an account. */
  placeOf = (address: string): number => this.#states.at(-1)!.places.get(address) ?? 0

  /** The balance now, or at a block; `undefined` where there is no such block. */
  balanceAt(hash: Hex | undefined, address: string, token?: string): bigint | undefined {
    const at =
      hash === undefined ? this.#blocks.length - 1 : this.#blocks.findIndex((block) => block.hash === hash)
    return at < 0 ? undefined : balanceIn(this.#states[at]!, address, token)
  }

  balanceOf = (address: string, token?: string): bigint => this.balanceAt(undefined, address, token)!

  #copy(): State {
    const { balances, places } = this.#states.at(-1)!
    return { balances: new Map(balances), places: new Map(places) }
  }

  #append(state: State, orders: LedgerEntry[]): LedgerBlock {
    const parent = this.#blocks.at(-1)
    const number = this.#blocks.length
    const parentHash: Hex = parent?.hash ?? `0x${'0'.repeat(64)}`
    const hash: Hex = `0x${idOf(JSON.stringify([number, parentHash, this.#forks, orders]))}`
    const timeMs = Math.max(Date.now(), (parent?.timeMs ?? 0) + 1)
    const block = { number, hash, parentHash, timeMs, orders }
    this.#blocks.push(block)
    this.#states.push(state)
    return block
  }
}
