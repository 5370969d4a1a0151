import { keccak_256 } from '@noble/hashes/sha3'
import type { Crosschain } from '#chains/crosschain/crosschain'
import { forwardHookOf } from '#chains/crosschain/forward-hook'
import {
  type BurnBody,
  type CrosschainMessage,
  confirmedThreshold,
  decodeBurnBody,
  decodeMessage,
} from '#chains/crosschain/message'
import { MessageProblem } from '#chains/crosschain/message-problem'
import { wordOfAddress, zeroWord } from '#chains/crosschain/native-address'
import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import { type ObservedCrosschainEvent, observedCrosschainOf } from '#engines/indexer/observed/index'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { linkToEntities } from './link-to-entities.ts'
import { type MessageChain, messageChainOf, messageChains } from './networks.ts'
import { burnTokenOf } from './quote-fees.ts'
import {
  announceMessages,
  insertMessages,
  markReceived,
  type NewMessage,
  orphanMessages,
  setMessageHeights,
  unmarkReceived,
} from './store/messages.ts'

/** Applies one step of the feed of a chain to the messages that it sent and received. */
export async function followStepForMessages(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const chain = ctx.chains.find(step.blockchain)
  const source = chain && messageChainOf(ctx, chain)
  if (!source) return
  const { blockchain, blockHash, blockNumber, finalTo, kind } = step
  if (kind === 'undone') await undo(ctx, tx, blockchain, blockHash)
  else await apply(ctx, tx, source, blockHash)
  const followed = kind === 'undone' ? blockNumber - 1 : blockNumber
  await setMessageHeights(tx, ctx.config.crosschainEnvironment, blockchain, { followed, final: finalTo })
  await announceMessages(tx, blockchain)
}

async function apply(ctx: EngineCtx, tx: Db, source: MessageChain, blockHash: string): Promise<void> {
  const { blockchain } = source
  const nowMs = ctx.clock.nowMs()
  const ordinals = new Map<string, number>()
  const sent: NewMessage[] = []
  for (const event of await observedCrosschainOf(tx, blockchain, blockHash)) {
    const { txHash, blockNumber } = event
    if (event.kind === 'messageReceived') {
      const { sourceDomain: domain, nonce } = event
      const receivedDate = formatInstant(nowMs)
      await markReceived(tx, { blockchain, blockHash, blockNumber, domain, nonce, txHash, receivedDate })
    }
    if (event.kind !== 'messageSent') continue
    const ordinal = ordinals.get(txHash) ?? 0
    ordinals.set(txHash, ordinal + 1)
    const message = messageOf(ctx, source, event, ordinal)
    if (message) sent.push({ ...message, id: newId(nowMs) })
  }
  if (sent.length === 0) return
  await insertMessages(tx, sent, nowMs)
  await linkToEntities(ctx, tx, source, sent, nowMs)
}

async function undo(ctx: EngineCtx, tx: Db, blockchain: string, blockHash: string): Promise<void> {
  await unmarkReceived(tx, blockchain, blockHash)
  const attested = await orphanMessages(tx, ctx.config.crosschainEnvironment, blockchain, blockHash)
  if (attested.length === 0) return
  raiseAlarm(
    ctx.log,
    'attested-orphaned',
    { blockchain, blockHash, nonces: attested },
    'attested burns left the chain: they are lost unless they are mined again. Until then, or until bezant lost-burns books them, nothing of the chain is attested before it is final',
  )
}

type SentEvent = Extract<ObservedCrosschainEvent, { kind: 'messageSent' }>

/** The message of a log; `undefined` for bytes that no transmitter delivers. */
function messageOf(
  ctx: EngineCtx,
  source: MessageChain,
  { message, txHash, blockHash, blockNumber, logIndex }: SentEvent,
  ordinal: number,
): Omit<NewMessage, 'id'> | undefined {
  const { domain, crosschain, blockchain } = source
  try {
    const { sender, sourceDomain, destinationDomain, destinationCaller, minFinalityThreshold, messageBody } =
      decodeMessage(message)
    if (sourceDomain !== domain) return undefined
    const isBurn = sender === wordOfAddress(crosschain.addresses.tokenMessenger)
    const burn = isBurn ? decodeBurnBody(messageBody) : undefined
    return {
      blockchain,
      domain,
      txHash,
      ordinal,
      blockHash,
      blockNumber,
      logIndex,
      message,
      destinationDomain,
      nonce: nonceOf(domain, txHash as Hex, ordinal),
      amount: burn?.amount ?? null,
      maxFee: burn?.maxFee ?? null,
      fast: minFinalityThreshold <= confirmedThreshold,
      prepaid: burn !== undefined && isPrepaid(crosschain, burn),
      ...deliveryOf(ctx, source, { destinationDomain, destinationCaller }, burn),
    }
  } catch (error) {
    if (error instanceof MessageProblem) return undefined
    throw error
  }
}

/** Whether a contract burned that takes the fees beforehand. */
const isPrepaid = ({ addresses }: Crosschain, { messageSender }: BurnBody): boolean =>
  [addresses.tokenMessengerWithFees, addresses.crossChainTokenService].some(
    (contract) => contract !== undefined && messageSender === wordOfAddress(contract),
  )

/** Whether this server is asked to deliver a message, and whether the executor of the destination does. */
function deliveryOf(
  ctx: EngineCtx,
  source: MessageChain,
  {
    destinationDomain,
    destinationCaller,
  }: Pick<CrosschainMessage, 'destinationDomain' | 'destinationCaller'>,
  burn: BurnBody | undefined,
): Pick<NewMessage, 'forwards' | 'executes'> {
  const hook = burn && forwardHookOf(burn.hookData)
  if (!hook) return { forwards: false, executes: false }
  if (!hook.isExecuted) return { forwards: destinationCaller === zeroWord, executes: false }
  const destination = messageChains(ctx).find(({ domain }) => domain === destinationDomain)
  const executor = destination?.crosschain.addresses.genericExecutor
  // Of the others, one account alone can make the delivery. An executor uses USDC, and leaves other coins where they are minted.
  const executes =
    executor !== undefined &&
    destinationCaller === wordOfAddress(executor) &&
    burn.burnToken === wordOfAddress(burnTokenOf(source))
  return { forwards: executes, executes }
}

/** The same when the transaction is mined again, so that one message of it can be delivered at most. Never zero. */
function nonceOf(domain: number, txHash: Hex, ordinal: number): Hex {
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(domain, 0)
  numbers.writeUInt32BE(ordinal, 4)
  return hexOf(keccak_256(Buffer.concat([numbers, bytesOf(txHash)])))
}
