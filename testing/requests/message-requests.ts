import { messageDigest } from '#chains/crosschain/attestation'
import { burnBodyVersion, encodeBurnBody, encodeMessage, messageVersion } from '#chains/crosschain/message'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { newId } from '#lib/ids'
import { sql } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import type { World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const wordOf = (digit: string) => `0x${digit.repeat(64)}` as const
const txHash = wordOf('e')
const nonce = wordOf('d')
/** Domains of BASE-SEPOLIA and ETH-SEPOLIA. */
const [source, destination] = ['6', '0']

const message = encodeMessage({
  version: messageVersion,
  sourceDomain: 6,
  destinationDomain: 0,
  nonce,
  sender: wordOf('1'),
  recipient: wordOf('2'),
  destinationCaller: wordOf('0'),
  minFinalityThreshold: 2_000,
  finalityThresholdExecuted: 2_000,
  messageBody: encodeBurnBody({
    version: burnBodyVersion,
    burnToken: wordOf('3'),
    mintRecipient: wordOf('4'),
    amount: 5n,
    messageSender: wordOf('6'),
    maxFee: 0n,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: '0x',
  }),
})
const digest = messageDigest(message)

/** An attested message, without a burn: these suites are about requests. */
const attested = oncePer((world: World) =>
  world.harness.database.run(sql`insert into messages (id, blockchain, domain, tx_hash, ordinal, nonce, log_index, message,
      destination_domain, fast, state, attested_message, attestation, digest, finality_threshold, expiration_block,
      attested_date, create_date)
    values (${newId(Date.now())}, 'BASE-SEPOLIA', 6, ${txHash}, 0, ${nonce}, 0, ${message}, 0, false, 'complete', ${message},
      ${`0x${'1b'.repeat(65)}`}, ${digest}, 2000, 0, now(), now())`),
)

const after = (request: object): RequestSamples => ({
  request: async (world) => {
    await attested(world)
    return request
  },
})
const fees = after({ params: { source, destination } })
const nothing = after({})

const eurcId = messageTokens.TEST[0]!.id
const quoted = { amount: '1000000', requests: [{ type: 'PRE_FINALITY' }] }

export const messageRequests: Record<string, RequestSamples> = {
  'GET /v2/messages/{sourceDomainId}': after({ params: { sourceDomainId: source }, query: { nonce } }),
  'GET /v2/messages': after({ query: { sourceDomainId: source, nonce } }),
  'POST /v2/reattest/{nonce}': after({ params: { nonce } }),
  'GET /v2/publicKeys': nothing,
  'GET /v1/publicKeys': nothing,
  'GET /v2/burn/USDC/fees/{source}/{destination}': fees,
  'GET /v2/fastBurn/USDC/fees/{source}/{destination}': fees,
  'GET /v2/fastBurn/USDC/allowance': nothing,
  'POST /v2/quote/burn/usdc/{source}/{destination}': after({
    params: { source, destination },
    body: quoted,
  }),
  'POST /v2/quote/validate/usdc/{source}': {
    request: async (world) => {
      const path = `/v2/quote/burn/usdc/${source}/${destination}`
      const { signedQuote, feeToken } = (await world.harness.http('POST', path, { body: quoted })).body
      const zero = wordOf('0')
      const claim = [signedQuote, feeToken]
      return {
        params: { source },
        body: {
          abiSignature: 'depositForBurnWithFees(uint256,uint32,bytes32,address,bytes32,(bytes,address))',
          args: [quoted.amount, destination, wordOf('4'), feeToken, zero, claim],
        },
      }
    },
  },
  'GET /v2/cctpx/tokens': nothing,
  'GET /v2/cctpx/allowances': after({ query: { tokenIds: eurcId } }),
  'POST /v2/quote/cctpx/{tokenId}/{source}/{destination}': after({
    params: { tokenId: eurcId, source, destination },
    body: quoted,
  }),
  'GET /v1/attestations/{messageHash}': after({ params: { messageHash: digest } }),
  'GET /v1/messages/{sourceDomainId}/{transactionHash}': after({
    params: { sourceDomainId: source, transactionHash: txHash },
  }),
}
