import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { checkQuote } from './check-quote.ts'
import { getAttestation, listFormerMessages, listMessages } from './list-messages.ts'
import { listMovedTokens, listTokenAllowances } from './list-tokens.ts'
import { quoteBurn } from './quote-burn.ts'
import {
  checkedQuoteSchema,
  quoteCheckSchema,
  quotedSourceParams,
  quoteRequestSchema,
  signedQuoteSchema,
  transferQuoteParams,
  transferQuoteSchema,
} from './quote-schema.ts'
import { quoteTransfer } from './quote-transfer.ts'
import { reattest, reattestElsewhere } from './reattest.ts'
import {
  allowanceSchema,
  attestationSchema,
  bareMessagesQuery,
  domainParams,
  feesQuery,
  feesSchema,
  formerMessagesSchema,
  messageHashParams,
  messagesQuery,
  messagesSchema,
  messageTransactionParams,
  nonceParams,
  publicKeysSchema,
  reattestSchema,
  routeParams,
  tokenAllowancesQuery,
  tokenAllowancesSchema,
  tokensSchema,
} from './schema.ts'
import { getAllowance, listFees, listPublicKeys } from './show-terms.ts'

const tag = 'Messages'

/** Callers need no key: messages are public on their chains. */
const shared = { tag, auth: 'none', enveloped: false, errorText: true } as const
const messageErrors = [
  'messageNotFound',
  'domainUnknown',
  'domainWithoutMessages',
  'attestationServiceAway',
] as const

const quoteErrors = [
  'messageNotFound',
  'domainUnknown',
  'domainWithoutMessages',
  'feeQuotesUnavailable',
  'feeTokenUnsupported',
  'fastQuoteUnavailable',
  'fastAllowanceShort',
] as const

const fees = {
  ...shared,
  method: 'GET',
  summary: 'List the fees of burns',
  params: routeParams,
  query: feesQuery,
  response: feesSchema,
  errors: [...messageErrors],
} as const

const keys = {
  ...shared,
  method: 'GET',
  response: publicKeysSchema,
  errors: ['messageNotFound', 'attestationServiceAway'],
} as const

export const messageEndpoints = [
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v2/messages/{sourceDomainId}',
    operationId: 'listMessagesOfDomain',
    summary: 'List the messages of a transaction',
    description:
      'Returns the cross-chain messages of a transaction, or the one with a nonce, and their attestations. 404 until a block shows them. Needs no key.',
    params: domainParams,
    query: messagesQuery,
    response: messagesSchema,
    errors: [...messageErrors],
    verb: (ctx: Ctx, { params, query }) => listMessages(ctx, params.sourceDomainId, query),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v2/messages',
    operationId: 'listMessages',
    summary: 'List messages',
    description: 'The same with the domain in the query. Needs no key.',
    query: bareMessagesQuery,
    response: messagesSchema,
    errors: [...messageErrors],
    verb: (ctx: Ctx, { query: { sourceDomainId, ...filters } }) => listMessages(ctx, sourceDomainId, filters),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v2/reattest/{nonce}',
    operationId: 'reattestMessage',
    summary: 'Attest a message again',
    description:
      'Asks for an attestation without an end, in place of one of a fast message that has expired or will, or whose attesters were replaced. The former one counts until then, and the message is delivered once. Needs no key.',
    params: nonceParams,
    response: reattestSchema,
    errors: ['messageNotFound', 'messageNotAttested', 'attestationServiceAway'],
    prepare: (ctx: Ctx, { params }) => reattestElsewhere(ctx, params.nonce),
    verb: async (ctx: Ctx, { params }, asked) => asked ?? reattest(ctx, params.nonce),
  }),
  endpoint({
    ...keys,
    path: '/v2/publicKeys',
    operationId: 'listPublicKeys',
    summary: 'List the keys of attesters',
    description: 'Returns the public keys that sign messages, and those that did. Needs no key.',
    verb: (ctx: Ctx) => listPublicKeys(ctx),
  }),
  endpoint({
    ...keys,
    path: '/v1/publicKeys',
    operationId: 'listFormerPublicKeys',
    summary: 'List the keys of attesters, at their earlier address',
    description: 'The same as GET /v2/publicKeys. Needs no key.',
    verb: (ctx: Ctx) => listPublicKeys(ctx),
  }),
  endpoint({
    ...fees,
    path: '/v2/burn/USDC/fees/{source}/{destination}',
    operationId: 'listBurnFees',
    description:
      'Returns the fees in basis points for each finality; with `forward=true` also those for the delivery. Needs no key.',
    verb: async (ctx: Ctx, { params, query }) => listFees(ctx, params, query),
  }),
  endpoint({
    ...fees,
    path: '/v2/fastBurn/USDC/fees/{source}/{destination}',
    operationId: 'listFormerBurnFees',
    description: 'The same at its earlier address. Needs no key.',
    verb: async (ctx: Ctx, { params, query }) => listFees(ctx, params, query),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v2/quote/burn/usdc/{source}/{destination}',
    operationId: 'quoteBurn',
    summary: 'Quote the fees of a burn',
    description:
      'Returns signed fees that a burn pays beforehand, once and within five minutes, to the contract of prepaid fees. Needs no key.',
    params: routeParams,
    body: quoteRequestSchema,
    response: signedQuoteSchema,
    changing: false,
    acts: true,
    errors: [...quoteErrors],
    verb: (ctx: Ctx, { params, body }) => quoteBurn(ctx, params, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v2/quote/validate/usdc/{source}',
    operationId: 'checkQuote',
    summary: 'Check a quote of fees',
    description: 'Says whether a burn with these arguments can pay by a signed quote now. Needs no key.',
    params: quotedSourceParams,
    body: quoteCheckSchema,
    response: checkedQuoteSchema,
    changing: false,
    errors: [
      'messageNotFound',
      'domainUnknown',
      'domainWithoutMessages',
      'feeQuotesUnavailable',
      'unavailable',
    ],
    verb: (ctx: Ctx, { params, body }) => checkQuote(ctx, params, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v2/fastBurn/USDC/allowance',
    operationId: 'getFastAllowance',
    summary: 'Get the allowance for fast burns',
    description: 'Returns the value that can be attested before finality now. Needs no key.',
    response: allowanceSchema,
    errors: ['messageNotFound', 'attestationServiceAway'],
    verb: (ctx: Ctx) => getAllowance(ctx),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v2/cctpx/tokens',
    operationId: 'listMessageTokens',
    summary: 'List further tokens of messages',
    description:
      'Returns the tokens other than USDC that move between chains, with the contracts of each chain. Needs no key.',
    query: Type.Object({
      pageAfter: Type.Optional(Type.String({ description: 'Accepted and without effect.' })),
    }),
    response: tokensSchema,
    errors: [],
    verb: async (ctx: Ctx) => listMovedTokens(ctx),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v2/cctpx/allowances',
    operationId: 'listTokenAllowances',
    summary: 'List the allowances for fast burns of further tokens',
    description: 'Returns what one burn of each token can have attested before finality now. Needs no key.',
    query: tokenAllowancesQuery,
    response: tokenAllowancesSchema,
    errors: [],
    verb: (ctx: Ctx, { query }) => listTokenAllowances(ctx, query),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v2/quote/cctpx/{tokenId}/{source}/{destination}',
    operationId: 'quoteTransfer',
    summary: 'Quote the fees of a transfer by the token service',
    description:
      'Returns signed fees, in the native coin or in USDC, by which the token service moves a token other than USDC to another chain, once and within five minutes. Needs no key.',
    params: transferQuoteParams,
    body: transferQuoteSchema,
    response: signedQuoteSchema,
    changing: false,
    acts: true,
    errors: [
      'messageNotFound',
      'domainUnknown',
      'domainWithoutMessages',
      'messageTokenUnknown',
      'messageTokenElsewhere',
      'nativeFeeUnsupported',
      'feeQuotesUnavailable',
      'fastQuoteUnavailable',
      'fastAllowanceShort',
    ],
    verb: (ctx: Ctx, { params, body }) => quoteTransfer(ctx, params, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/attestations/{messageHash}',
    operationId: 'getAttestation',
    summary: 'Get an attestation by the hash of the message',
    description: 'The earlier form of GET /v2/messages. Needs no key.',
    params: messageHashParams,
    response: attestationSchema,
    errors: ['messageNotFound'],
    verb: (ctx: Ctx, { params }) => getAttestation(ctx, params.messageHash),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/messages/{sourceDomainId}/{transactionHash}',
    operationId: 'listFormerMessages',
    summary: 'List the messages of a transaction, in their earlier form',
    description: 'The earlier form of GET /v2/messages. Needs no key.',
    params: messageTransactionParams,
    response: formerMessagesSchema,
    errors: [...messageErrors],
    verb: (ctx: Ctx, { params }) => listFormerMessages(ctx, params.sourceDomainId, params.transactionHash),
  }),
]
