import type { Party } from '#chains/facets/call-effects'
import type { Db } from '#runtime/db/db'
import { type ObservedCrosschainEvent, observedCrosschainOf } from './store/crosschain.ts'

type Received = { txHash: string; fromAddress: string; toAddress: string }

/**
 * Returns a function that names the senders of a transfer in the block: of minted coins those whose coins they were on another
 * chain, also where the account that they were minted for passes them on in the same transaction.
 */
export async function sendersIn(
  tx: Db,
  blockchain: string,
  blockHash: string,
): Promise<(transfer: Received) => Party[]> {
  const minted = (await observedCrosschainOf(tx, blockchain, blockHash)).flatMap(mintOf)
  return ({ txHash, fromAddress, toAddress }) => [
    { blockchain, address: fromAddress },
    ...minted
      .filter((mint) => mint.txHash === txHash && [fromAddress, toAddress].includes(mint.recipient))
      .flatMap(({ senders }) => senders),
  ]
}

function mintOf(event: ObservedCrosschainEvent) {
  if (event.kind !== 'messageReceived' && event.kind !== 'minted') return []
  const { txHash, recipient, senders = [] } = event
  return recipient === undefined ? [] : [{ txHash, recipient: recipient as string, senders }]
}
