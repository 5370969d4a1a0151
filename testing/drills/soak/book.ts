import type { OracleTransfer } from '#testing/platform/oracle'

/** Facts of the chains, for the comparison at the end. */
export type Facts = {
  /** Movements of coins and tokens to an address, on whatever chain. */
  movedTo(address: string): readonly { txHash: string; amountAtomic: bigint }[]
}

/** Something that the platform accepted, and how it has to have ended. */
export type Accepted = {
  product: string
  /** Resolves with the difference, or undefined where there is none. */
  differs(facts: Facts): Promise<string | undefined>
}

export type Book = ReturnType<typeof openBook>

/** A record of acts that were accepted, and of those that were refused although they should not have been. */
export function openBook() {
  const accepted: Accepted[] = []
  const done = new Map<string, number>()
  const failed = new Map<string, number>()
  const defects: string[] = []
  const failures = new Map<string, number>()
  return {
    accepted,
    done,
    failed,
    failures,
    defects,
    accept: (one: Accepted) => void accepted.push(one),
    finished: (product: string) => void done.set(product, (done.get(product) ?? 0) + 1),
    /** An act that did not come to its end, for a reason that the answers name. */
    gaveUp: (product: string, error: Error) => {
      failed.set(product, (failed.get(product) ?? 0) + 1)
      const what = `${product}: ${error.message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]{6,}/gi, '…').slice(0, 300)}`
      failures.set(what, (failures.get(what) ?? 0) + 1)
    },
    defect: (what: string) => void defects.push(what),
  }
}

/** Whether an address got an amount once; a difference in words otherwise. */
export function paidOnce(facts: Facts, to: string, amountAtomic?: bigint): string | undefined {
  const moved = facts.movedTo(to)
  if (moved.length !== 1) return `${to} was paid ${moved.length} times`
  if (amountAtomic !== undefined && moved[0]!.amountAtomic !== amountAtomic)
    return `${to} got ${moved[0]!.amountAtomic} and not ${amountAtomic}`
  return undefined
}

export const indexMoves = (all: readonly Pick<OracleTransfer, 'to' | 'txHash' | 'amountAtomic'>[]): Facts => {
  const byAddress = new Map<string, { txHash: string; amountAtomic: bigint }[]>()
  for (const { to, txHash, amountAtomic } of all) {
    const moves = byAddress.get(to.toLowerCase()) ?? []
    moves.push({ txHash, amountAtomic })
    byAddress.set(to.toLowerCase(), moves)
  }
  return { movedTo: (address) => byAddress.get(address.toLowerCase()) ?? [] }
}
