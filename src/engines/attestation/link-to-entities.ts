import { decodeBurnBody, decodeMessage } from '#chains/crosschain/message'
import { nativeForm } from '#chains/crosschain/native-address'
import { type ManagedAddress, managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { directionsByEntity } from '#engines/movement'
import type { Hex } from '#lib/hex'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { burntToken } from './burnt-token.ts'
import { type MessageChain, messageChains } from './networks.ts'
import { insertEntityMessages, type MessageLink } from './store/entity-messages.ts'
import type { NewMessage } from './store/messages.ts'

type KnownBurn = { nonce: string; tokenId: string; from: string; to: string; destination: string | undefined }

/** Lists burns among the movements of the entities whose addresses burn or receive. */
export async function linkToEntities(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  sent: readonly NewMessage[],
  nowMs: number,
): Promise<void> {
  const chains = messageChains(ctx)
  const burns = sent.flatMap((message) => burnOf(chains, source, message) ?? [])
  if (burns.length === 0) return
  const senders = await managedAmong(tx, source.blockchain, [...new Set(burns.map(({ from }) => from))])
  const receivers: ManagedAddress[] = []
  for (const destination of new Set(burns.flatMap((burn) => burn.destination ?? []))) {
    const there = burns.filter((burn) => burn.destination === destination).map(({ to }) => to)
    receivers.push(...(await managedAmong(tx, destination, [...new Set(there)])))
  }
  const createDate = formatInstant(nowMs)
  const links = burns.flatMap(({ destination, ...burn }): MessageLink[] => {
    const paying = entitiesAt(senders, source.blockchain, burn.from)
    const paid = destination === undefined ? [] : entitiesAt(receivers, destination, burn.to)
    const directions = directionsByEntity(paying, paid)
    return [...directions].map(([entityId, direction]) => ({ ...burn, entityId, direction, createDate }))
  })
  if (links.length > 0) await insertEntityMessages(tx, links)
}

const entitiesAt = (managed: readonly ManagedAddress[], blockchain: string, address: string): string[] =>
  managed
    .filter((each) => each.blockchain === blockchain && each.address === address)
    .map(({ entityId }) => entityId)

/** The burn of a message; undefined for a message of another contract, and for a token that is not listed. */
function burnOf(
  chains: readonly MessageChain[],
  { chain }: MessageChain,
  { nonce, amount, message, destinationDomain }: NewMessage,
): KnownBurn | undefined {
  if (amount === null) return undefined
  const { messageSender, mintRecipient } = decodeBurnBody(decodeMessage(message as Hex).messageBody)
  const token = burntToken(chain.network, message as Hex)
  if (!token) return undefined
  return {
    nonce,
    tokenId: token.id,
    from: nativeForm(messageSender),
    to: nativeForm(mintRecipient),
    destination: chains.find(({ domain }) => domain === destinationDomain)?.blockchain,
  }
}
