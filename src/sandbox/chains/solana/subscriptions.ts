/** Subscriptions of one connection: the node sends what changes at the commitment that the caller named. */
import type { SlotBlock } from './blocks.ts'
import { SolanaRpcError } from './errors.ts'
import { jsonText } from './json.ts'
import type { LedgerChange } from './ledger.ts'
import { addressParam, configParam, signatureParam } from './params.ts'
import { foundIn, inContext, shownAccount } from './read-methods.ts'
import { blockFor, type SolanaView } from './view.ts'

type Notify = (method: string, subscription: number, result: unknown) => void

/** Looks at the ledger after a change. Returns true once it has nothing more to say. */
type Watcher = (view: SolanaView) => boolean

type OpenSubscription = { id: number; kind: string; watch: Watcher }

/** Opens a subscription with these parameters and this number. */
type SubscriptionOpener = (
  viewNow: () => SolanaView,
  notify: Notify,
  params: readonly unknown[],
  id: number,
) => Watcher

const openSignature: SubscriptionOpener = (_, notify, [text, given], id) => {
  const signature = signatureParam(text)
  const config = configParam(given)
  return (view) => {
    const block = blockFor(view, config)
    const found = foundIn(view, signature, block)
    if (found) notify('signatureNotification', id, inContext(block, { err: found.outcome.error ?? null }))
    return found !== undefined
  }
}

const openAccount: SubscriptionOpener = (viewNow, notify, [text, given], id) => {
  const address = addressParam(text)
  const config = configParam(given)
  const look = (view: SolanaView) => {
    const block = blockFor(view, config)
    const shown = shownAccount(view, block, address, config)
    return { block, shown, text: jsonText(shown) }
  }
  let last = look(viewNow()).text
  return (view) => {
    const now = look(view)
    if (now.text !== last) notify('accountNotification', id, inContext(now.block, now.shown))
    last = now.text
    return false
  }
}

/** Tells of each block that is new since the last look. */
function watchBlocks(
  viewNow: () => SolanaView,
  newest: (view: SolanaView) => SlotBlock,
  tell: (view: SolanaView, block: SlotBlock) => void,
): Watcher {
  let last = newest(viewNow()).slot
  return (view) => {
    const block = newest(view)
    const fresh = view.ledger.blocks.filter(({ slot, height }) => slot > last && height <= block.height)
    for (const each of fresh) tell(view, each)
    last = Math.max(last, block.slot)
    return false
  }
}

const openers: Readonly<Record<string, SubscriptionOpener>> = {
  signature: openSignature,
  account: openAccount,
  slot: (viewNow, notify, _, id) =>
    watchBlocks(
      viewNow,
      ({ head }) => head,
      ({ finalized }, { slot, parentSlot }) =>
        notify('slotNotification', id, { parent: parentSlot, root: finalized.slot, slot }),
    ),
  root: (viewNow, notify, _, id) =>
    watchBlocks(
      viewNow,
      ({ finalized }) => finalized,
      (_view, { slot }) => notify('rootNotification', id, slot),
    ),
}

/** Opens the subscriptions of a connection. */
export function openSubscriptions(viewNow: () => SolanaView, notify: Notify) {
  const opened = new Map<number, OpenSubscription>()
  let ids = 0
  const look = ({ id, watch }: OpenSubscription) => {
    if (watch(viewNow())) opened.delete(id)
  }
  return {
    /** Answers a request to open or close a subscription; undefined of any other method. */
    answer: (method: string, params: readonly unknown[]): { result: unknown; after(): void } | undefined => {
      const [, kind = '', act] = /^([a-z]+)(Subscribe|Unsubscribe)$/.exec(method) ?? []
      const open = Object.hasOwn(openers, kind) ? openers[kind] : undefined
      if (!open) return undefined
      if (act === 'Unsubscribe') {
        const [id] = params
        if (opened.get(id as number)?.kind !== kind)
          throw new SolanaRpcError('invalidParams', 'Invalid subscription id.')
        opened.delete(id as number)
        return { result: true, after: () => {} }
      }
      ids += 1
      const subscription = { id: ids, kind, watch: open(viewNow, notify, params, ids) }
      opened.set(ids, subscription)
      // The caller learns the number of its subscription before what has happened already.
      return { result: ids, after: () => look(subscription) }
    },
    changed: (change: LedgerChange) => {
      if (change !== 'pending') for (const each of [...opened.values()]) look(each)
    },
  }
}
