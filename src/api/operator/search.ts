import type { Ctx } from '#engines/ctx'
import { type FoundKind, search } from '#engines/movements/index'
import { invalid } from '#lib/errors'
import { showMovements } from './read-movements.ts'

const foundMax = 10
const wordMax = 256

/** The path of a resource of this id. Some have only a list, or a part, that is read. */
const paths: Record<FoundKind, (id: string) => string> = {
  wallet: (id) => `/v1/w3s/wallets/${id}`,
  walletSet: (id) => `/v1/w3s/walletSets/${id}`,
  modularWallet: (id) => `/v1/w3s/modular/wallets/${id}/balances`,
  contract: (id) => `/v1/w3s/contracts/${id}`,
  paymentIntent: (id) => `/v1/paymentIntents/${id}`,
  recipient: (id) => `/v1/addressBook/recipients/${id}`,
  account: (id) => `/operator/accounts/${id}/entries`,
  subscription: (id) => `/v2/notifications/subscriptions/${id}`,
  notification: (id) => `/operator/notifications/${id}`,
  request: (id) => `/operator/requests/${id}`,
}

/** Finds what one word is about. */
export async function findByWord(ctx: Ctx, q: string) {
  const text = q.trim()
  if (text === '' || text.length > wordMax)
    throw invalid({ at: 'q', reason: `must be one word of 1 to ${wordMax} characters`, value: q })
  if (/\p{Cc}/u.test(text))
    throw invalid({ at: 'q', reason: 'has a control character: type or paste the word again', value: q })
  const found = await search(ctx, ctx.entity.id, text, foundMax)
  const movements = found.flatMap((each) => (each.kind === 'movement' ? [each.movement] : []))
  const shown = new Map((await showMovements(ctx, movements)).map((movement) => [movement.id, movement]))
  return found.map((each) => {
    if (each.kind !== 'movement') {
      const { kind, id, label, line } = each
      return { kind, id, label, path: line === 'v1' ? '/v1/notifications/subscriptions' : paths[kind](id) }
    }
    const { id, kind } = each.movement
    return { kind, id, label: labelOf(shown.get(id)!), path: `/operator/movements/${id}` }
  })
}

type ShownMovement = Awaited<ReturnType<typeof showMovements>>[number]

/** For example "12.5 USDC on BASE-SEPOLIA, COMPLETE". */
function labelOf({ amounts = [], symbol, currency, blockchain, state }: ShownMovement): string {
  const unit = symbol ?? currency
  const money = amounts.length > 0 ? `${amounts.join(', ')}${unit === undefined ? '' : ` ${unit}`} ` : ''
  return `${money}on ${blockchain}, ${state}`
}
