import Type from 'typebox'
import { logged } from '#runtime/http/openapi/annotate'
import { domainText, hex } from './schema.ts'

const text = (description: string) => Type.String({ description })
const address = (description: string) => hex(20, description)
const digits = (description: string) => Type.String({ pattern: '^[0-9]{1,78}$', description })

export const quotedSourceParams = Type.Object({ source: domainText('The domain of the chain that burns.') })

export const quoteRequestSchema = Type.Object({
  amount: logged('amount', digits('What is burned, in base units of USDC; above zero.')),
  feeToken: Type.Optional(
    logged(
      'address',
      address('The token that pays the fees: USDC of the chain that burns, which is the default.'),
    ),
  ),
  requests: Type.Array(
    Type.Object({
      type: Type.Enum(['FORWARD', 'PRE_FINALITY'], {
        description: 'The delivery by this server, or an attestation before the burn is final.',
      }),
      params: Type.Optional(
        Type.Object(
          {
            hookData: Type.Optional(
              text('The hook data of the burn; default: a request for the delivery and nothing else.'),
            ),
            destinationCaller: Type.Optional(
              logged(
                'address',
                address(
                  'The account that delivers: zero, which is the default, or the executor of the chain.',
                ),
              ),
            ),
          },
          { description: 'The delivery that FORWARD asks for.' },
        ),
      ),
    }),
    { minItems: 1, maxItems: 2, description: 'What the fees pay for; each type once.' },
  ),
})

export const transferQuoteParams = Type.Object({
  tokenId: hex(32, 'The id of the token, as GET /v2/cctpx/tokens lists it.'),
  source: domainText('The domain of the chain that burns.'),
  destination: domainText('The domain of the chain that mints.'),
})

export const transferQuoteSchema = Type.Object({
  amount: logged('amount', digits('What is moved, in base units of the token; above zero.')),
  feeToken: Type.Optional(
    logged(
      'address',
      address('The coin that pays the fees: zero for the native one, which is the default, or USDC.'),
    ),
  ),
  requests: Type.Array(
    Type.Object({
      type: Type.Enum(['FORWARD', 'PRE_FINALITY'], {
        description: 'The delivery by this server, or an attestation before the burn is final.',
      }),
      params: Type.Optional(
        Type.Object(
          {
            msgType: Type.Optional(text('TransferMessage, which is the default.')),
            destinationAddress: Type.Optional(
              logged('address', address('The account that receives the token; FORWARD needs it.')),
            ),
          },
          { description: 'The delivery that FORWARD asks for.' },
        ),
      ),
    }),
    { minItems: 1, maxItems: 2, description: 'What the fees pay for; each type once.' },
  ),
})

const expiryFields = {
  mode: Type.Enum(['TIMESTAMP'], { description: 'Quotes end at a time.' }),
  expiresAt: Type.Integer({ description: 'The last second in which a burn can pay by it, since 1970.' }),
}

const itemFields = {
  type: text('FORWARD or PRE_FINALITY.'),
  amount: text('The fee, in base units of the token.'),
  args: Type.Array(Type.String(), {
    description: 'What it is bound to: hook data or receiver, and destination caller; or the amount.',
  }),
  argsHash: text('The hash of these, encoded as the contract does.'),
}

const quoteFields = {
  signedQuote: text('The bytes that the contract of prepaid fees takes.'),
  feeTotalAmount: text('The sum of the fees, in base units of the token.'),
  feeToken: text('The token that pays the fees.'),
  nonce: text('The number of the quote; a burn pays by it once.'),
}

export const signedQuoteSchema = Type.Object(
  {
    ...quoteFields,
    issuedAt: Type.Integer({ description: 'The second in which it was signed, since 1970.' }),
    expiry: Type.Object(expiryFields, { description: 'The end of the quote.' }),
    items: Type.Array(Type.Object(itemFields), { description: 'The fees, one for each request.' }),
  },
  { title: 'FeeQuote', description: 'Fees that a burn pays beforehand.' },
)

export const quoteCheckSchema = Type.Object({
  abiSignature: Type.Enum(
    [
      'depositForBurnWithFees(uint256,uint32,bytes32,address,bytes32,(bytes,address))',
      'depositForBurnWithHookAndFees(uint256,uint32,bytes32,address,bytes32,bytes,(bytes,address))',
    ],
    { description: 'The function of the contract of prepaid fees.' },
  ),
  args: Type.Array(Type.Union([Type.String(), Type.Array(Type.String())]), {
    minItems: 6,
    maxItems: 7,
    description: 'Its arguments; the last is the signed quote and the address for refunds.',
  }),
})

export const checkedQuoteSchema = Type.Object(
  {
    ...quoteFields,
    claimable: Type.Boolean({ description: 'Whether a burn with these arguments can pay by it now.' }),
    failedChecks: Type.Array(
      Type.Enum([
        'QUOTE_EXPIRED',
        'NON_ZERO_NONCE',
        'SIGNATURE_INVALID',
        'SOURCE_DOMAIN_MISMATCH',
        'EMPTY_HOOK_DATA',
        'FORWARD_FEE_WITHOUT_HOOK',
        'FORWARD_HOOK_WITHOUT_FEE',
        'QUOTE_ARGS_MISMATCH',
      ]),
      {
        description:
          'Why it cannot; NON_ZERO_NONCE means that a burn has paid by it, as published clients read it.',
      },
    ),
    expiry: Type.Object(
      {
        ...expiryFields,
        expired: Type.Boolean({ description: 'Whether it has ended.' }),
        secondsRemaining: Type.Integer({ description: 'Seconds until then.' }),
      },
      { description: 'The end of the quote.' },
    ),
    items: Type.Array(
      Type.Object({
        ...itemFields,
        argsMatch: Type.Boolean({ description: 'Whether the arguments are those of the quote.' }),
        computedArgsHash: text('The hash of the arguments that were given.'),
      }),
      { description: 'The fees, and what they are bound to.' },
    ),
  },
  { title: 'CheckedFeeQuote', description: 'Whether a burn can pay by a quote.' },
)
