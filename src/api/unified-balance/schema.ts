import Type from 'typebox'
import { logged } from '#runtime/http/openapi/annotate'

const hex = (bytes: number, description: string) =>
  Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$`, description })
const digits = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$', description })
const domain = (description: string) => Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description })
const decimal = (description: string) => Type.String({ format: 'decimal', description })

const addressText = (what: string) => hex(32, `${what}: an address behind twelve zero bytes.`)

export const specSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Always 1.' }),
    sourceDomain: domain('The domain of the chain that the value leaves.'),
    destinationDomain: domain('The domain of the chain that it is minted on.'),
    sourceContract: addressText('The wallet contract of the source'),
    destinationContract: addressText('The minter contract of the destination'),
    sourceToken: addressText('The token on the source'),
    destinationToken: addressText('The token on the destination'),
    sourceDepositor: addressText('The owner of the balance'),
    destinationRecipient: addressText('The receiver'),
    sourceSigner: addressText('The account that signs: the depositor or a delegate'),
    destinationCaller: addressText('The only account that may mint; zero for any'),
    value: digits('The value in millionths of a coin.'),
    salt: hex(32, 'Random bytes that make the transfer different from all others.'),
    hookData: Type.Optional(
      Type.String({
        format: 'hex',
        maxLength: 8_194,
        description: 'Data that the contracts do not read. Absent when empty; the signature covers 0x then.',
      }),
    ),
  },
  { title: 'TransferSpec', description: 'One transfer from one balance.' },
)

export const intentSchema = Type.Object(
  {
    maxBlockHeight: digits('The last block of the source in which the value can be burned.'),
    maxFee: logged('amount', digits('The highest fee that the service may take, in millionths of a coin.')),
    spec: specSchema,
  },
  { title: 'BurnIntent', description: 'What a depositor or delegate signs.' },
)

const intentSetSchema = Type.Object(
  {
    intents: Type.Array(intentSchema, {
      minItems: 1,
      maxItems: 16,
      description: 'The intents, signed once.',
    }),
  },
  { title: 'BurnIntentSet', description: 'Intents of one or several chains with one signature.' },
)

export const signedIntentsSchema = Type.Array(
  Type.Object(
    {
      burnIntent: Type.Optional(intentSchema),
      burnIntentSet: Type.Optional(intentSetSchema),
      signature: Type.String({
        format: 'hex',
        maxLength: 8_194,
        description:
          'The signature of the typed data: 65 bytes of a key, or at most 4,096 bytes that the contract takes for its signature.',
      }),
      contractSigner: Type.Optional(
        Type.Boolean({
          description:
            'Whether the source signer is a contract that takes the signature for its own by isValidSignature of ERC-1271.',
        }),
      ),
    },
    { title: 'SignedIntent', description: 'A burn intent or a set of them, and its signature.' },
  ),
  {
    minItems: 1,
    maxItems: 16,
    description: 'What was signed: at most 16 intents in all, with one destination.',
  },
)

const estimatedFields = {
  maxBlockHeight: Type.Optional(digits('The height to keep; absent: one that suffices for about a day.')),
  maxFee: logged(
    'amount',
    Type.Optional(digits('The fee to keep where it is higher; absent: the fee of this service.')),
  ),
  spec: specSchema,
}

export const estimateSchema = Type.Array(
  Type.Object(
    {
      spec: Type.Optional(specSchema),
      maxBlockHeight: estimatedFields.maxBlockHeight,
      maxFee: estimatedFields.maxFee,
      intents: Type.Optional(
        Type.Array(Type.Object(estimatedFields, { description: 'An intent to be.' }), {
          minItems: 1,
          maxItems: 16,
          description: 'A set of intents, instead of spec.',
        }),
      ),
    },
    { title: 'EstimatedIntent', description: 'An intent without signature, or a set of them.' },
  ),
  { minItems: 1, maxItems: 16, description: 'The intents, at most 16 in all, with one destination.' },
)

export const forwarderQuery = Type.Object({
  enableForwarder: Type.Optional(
    Type.Boolean({ description: 'Whether this server mints on the destination, for a fee.' }),
  ),
})

export const unifiedTransferQuery = Type.Object({
  ...forwarderQuery.properties,
  maxAttestationSize: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The most bytes that the attestation may have.' }),
  ),
})

const sourcesField = Type.Array(
  Type.Object(
    {
      depositor: logged(
        'address',
        Type.String({ minLength: 1, maxLength: 128, description: 'The address of the depositor.' }),
      ),
      domain: Type.Optional(domain('The domain of the chain; absent: all.')),
    },
    { description: 'A depositor, on one chain or on all.' },
  ),
  { minItems: 1, maxItems: 20, description: 'The depositors to look up.' },
)
const tokenField = Type.Enum(['USDC'], { description: 'The token.' })

export const sourcesSchema = Type.Object(
  { token: tokenField, sources: sourcesField },
  { title: 'UnifiedSources', description: 'The balances to look up.' },
)

export const balancesSchema = Type.Object(
  {
    token: tokenField,
    balances: Type.Array(
      Type.Object(
        {
          domain: domain('The domain of the chain.'),
          depositor: logged('address', Type.String({ description: 'The depositor as asked for.' })),
          balance: decimal(
            'What can be spent there now: final deposits less withdrawals, transfers and fees.',
          ),
        },
        { title: 'UnifiedBalance', description: 'The balance of a depositor on a chain.' },
      ),
      { description: 'The balances, in the order of the sources and domains.' },
    ),
  },
  { title: 'UnifiedBalances', description: 'The balances of depositors.' },
)

export const depositsSchema = Type.Object(
  {
    token: tokenField,
    deposits: Type.Array(
      Type.Object(
        {
          depositor: logged('address', Type.String({ description: 'The depositor as asked for.' })),
          domain: domain('The domain of the chain.'),
          transactionHash: logged('hash', Type.String({ description: 'The transaction of the deposit.' })),
          amount: logged('amount', digits('The amount in millionths of a coin.')),
          status: Type.Enum(['pending'], {
            description: 'Whether it counts: final deposits are not listed.',
          }),
          blockHeight: digits('The block of the deposit.'),
          blockHash: logged('hash', Type.String({ description: 'Its hash.' })),
          blockTimestamp: Type.String({ format: 'date-time', description: 'Its time.' }),
        },
        { title: 'PendingDeposit', description: 'A deposit whose block is not final.' },
      ),
      { description: 'The deposits that do not count yet, newest first, at most 1,000.' },
    ),
  },
  { title: 'PendingDeposits', description: 'Deposits that wait for finality.' },
)

const contractSchema = (what: string) =>
  Type.Object(
    {
      address: logged('address', Type.String({ description: 'Its address.' })),
      supportedTokens: Type.Array(Type.String({ description: 'A token.' }), { description: 'Its tokens.' }),
    },
    { description: what },
  )

export const infoSchema = Type.Object(
  {
    version: Type.Integer({ description: 'The version of this interface: 1.' }),
    domains: Type.Array(
      Type.Object(
        {
          chain: Type.String({ description: 'The name of the chain, such as Ethereum.' }),
          network: Type.String({ description: 'The name of its network, such as Sepolia.' }),
          domain: domain('The number of the chain in transfers.'),
          walletContract: contractSchema('The contract that takes deposits.'),
          minterContract: contractSchema('The contract that mints.'),
          processedHeight: digits('The last block whose deposits and delegates count.'),
          burnIntentExpirationHeight: digits('The lowest maxBlockHeight of an intent that is attested now.'),
        },
        { title: 'UnifiedDomain', description: 'A chain of this server.' },
      ),
      { description: 'The chains.' },
    ),
  },
  { title: 'UnifiedInfo', description: 'The chains and contracts of unified balances.' },
)

const feesSchema = Type.Object(
  {
    total: decimal('All fees together.'),
    token: tokenField,
    perIntent: Type.Array(
      Type.Object(
        {
          transferSpecHash: hex(32, 'The hash of the specification.'),
          domain: domain('The source.'),
          baseFee: decimal('The fee for the burn.'),
          transferFee: Type.Optional(decimal('The share of the value; absent within one chain.')),
        },
        { title: 'IntentFees', description: 'The fees of one intent.' },
      ),
      { description: 'The fees of each intent, in their order.' },
    ),
    forwardingFee: Type.Optional(
      decimal('The fee for the mint, with a forwarder. The first intent pays it.'),
    ),
  },
  { title: 'UnifiedFees', description: 'Fees in coins.' },
)

const estimatedIntentSchema = Type.Object(
  { burnIntent: Type.Optional(intentSchema), burnIntentSet: Type.Optional(intentSetSchema) },
  { title: 'EstimateItem', description: 'An intent or set to sign.' },
)
const estimatedList = Type.Array(estimatedIntentSchema, { description: 'One item for each of the request.' })

export const estimateAnswerSchema = Type.Union(
  [
    estimatedList,
    Type.Object(
      { body: estimatedList, fees: feesSchema },
      { title: 'ForwardedEstimate', description: 'The answer with enableForwarder.' },
    ),
  ],
  { description: 'The intents to sign; with a forwarder an object that has them, and the fees.' },
)

export const attestedSchema = Type.Object(
  {
    transferId: Type.String({ format: 'uuid', description: 'The id of the transfer.' }),
    attestation: Type.String({
      description: 'What to hand to gatewayMint: an encoded Attestation or AttestationSet.',
    }),
    signature: Type.String({ description: 'The signature of this server, 65 bytes.' }),
    fees: feesSchema,
    expirationBlock: digits('The last block of the destination in which it can be minted.'),
  },
  { title: 'AttestedTransfer', description: 'An attested transfer.' },
)

const statusField = Type.Enum(['pending', 'confirmed', 'finalized', 'failed', 'expired'], {
  description:
    '`pending`: not minted. `confirmed`: minted. `finalized`: the block of the mint is final. `expired`: not minted up to its last block; the amounts are returned. `failed`: the forwarder could not mint.',
})

export const unifiedTransferSchema = Type.Object(
  {
    status: statusField,
    destinationDomain: domain('The domain that it is minted on.'),
    burnIntents: Type.Array(
      Type.Object(
        {
          transferSpecHash: hex(32, 'The hash of the specification.'),
          maxBlockHeight: digits('As signed.'),
          maxFee: logged('amount', digits('As signed.')),
        },
        { title: 'TransferIntent', description: 'An intent of the transfer.' },
      ),
      { description: 'The intents, in their order.' },
    ),
    transactionHash: logged(
      'hash',
      Type.Optional(Type.String({ description: 'The transaction that minted it.' })),
    ),
    forwardingDetails: Type.Object(
      {
        forwardingEnabled: Type.Boolean({ description: 'Whether this server mints it.' }),
        failureReason: Type.Optional(Type.String({ description: 'Why it could not.' })),
        delayReason: Type.Optional(
          Type.String({
            description:
              'Why it waits. insufficient_forwarding_fee: gas of the destination costs more than the fee for it now.',
          }),
        ),
      },
      { description: 'The state of the forwarder.' },
    ),
    fees: feesSchema,
    attestation: Type.Object(
      {
        payload: Type.String({ description: 'The encoded attestation.' }),
        signature: Type.String({ description: 'The signature of this server.' }),
        expirationBlock: digits('The last block in which it can be minted.'),
      },
      { description: 'What the minter contract takes.' },
    ),
  },
  { title: 'UnifiedTransfer', description: 'A transfer out of unified balances.' },
)

export const specAnswerSchema = Type.Object(
  {
    ...specSchema.properties,
    hookData: Type.String({
      format: 'hex',
      description: 'Data that the contracts do not read; 0x for none.',
    }),
    transferSpecHash: hex(32, 'The hash.'),
    transferId: Type.String({ format: 'uuid', description: 'The transfer that it is part of.' }),
    status: statusField,
  },
  { title: 'SpecLookup', description: 'A transfer specification, and the transfer that it is part of.' },
)

export const unifiedTransferParams = Type.Object({
  id: Type.String({ format: 'uuid', description: 'The id of the transfer.' }),
})
export const transferSpecParams = Type.Object({ transferSpecHash: hex(32, 'The hash of the specification.') })
