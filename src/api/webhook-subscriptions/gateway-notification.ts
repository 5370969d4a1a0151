import { stablecoinNamed } from '#chains/network'
import { requireNetwork } from '#chains/networks/index'
import { findGatewayEvent, tokenSymbol } from '#engines/unified-balance/index'
import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import { formatAmount } from '#lib/amounts'
import type { Db } from '#runtime/db/db'

/** A deposit or a mint of a unified balance, for those who watch its address. */
export async function gatewayNotification(
  db: Db,
  { entityId, resourceId }: TopicEvent,
): Promise<WebhookContent | undefined> {
  const found = await findGatewayEvent(db, entityId, resourceId)
  if (!found) return undefined
  const { id, kind, blockchain, address, amountAtomic, from, to, txHash } = found
  const network = requireNetwork(blockchain)
  const { environment, domain } = network
  const token = stablecoinNamed(network, tokenSymbol)!
  return {
    notificationType: `gateway.${kind}`,
    about: { address, domain: domain! },
    notification: {
      id,
      walletAddress: address,
      domain: String(domain),
      env: environment === 'TEST' ? 'testnet' : 'mainnet',
      tokenAddress: token.address,
      amount: formatAmount(amountAtomic, token.decimals, token.decimals),
      from,
      to,
      txHash,
    },
  }
}
