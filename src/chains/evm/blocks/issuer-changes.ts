import type { Address } from '../../addresses/types.ts'
import type { ChainLog } from '../../facets/blocks.ts'
import type { IssuerChange } from '../../facets/tokens.ts'

/** keccak256 of "Blacklisted(address)" and "UnBlacklisted(address)": the words of the issuer's contract. */
const blockedTopic = '0xffa4e6181777692565cf28528fc88fd1516ea86b56da075235fa575af6a4b855'
const unblockedTopic = '0x117e3210bb9aa7d9baff172026820255c6f6c30ba8999d1c2fd88e2848137c4e'

/** The change of an issuer's blocklist that a log reports, whichever contract wrote it. */
export function issuerChangesBy({ address: token, topics }: ChainLog): IssuerChange[] {
  const [topic, account] = topics
  if (account === undefined || (topic !== blockedTopic && topic !== unblockedTopic)) return []
  return [{ token, address: `0x${account.slice(26)}` as Address, blocked: topic === blockedTopic }]
}
