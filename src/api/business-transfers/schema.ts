import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { riskEvaluationField } from '#api/business/risk-evaluation'
import { waitingForField } from '#api/business/waiting-for'
import { businessChainField, createDateField, dateField, idField } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

export const newTransferSchema = Type.Object(
  {
    source: Type.Optional(
      Type.Object(
        {
          type: Type.Enum(['wallet'], { description: 'Always wallet.' }),
          id: Type.String({ maxLength: 36, description: 'The masterWalletId of GET /v1/configuration.' }),
        },
        { description: 'The wallet that pays; by default the main wallet.' },
      ),
    ),
    destination: Type.Object(
      {
        type: Type.Enum(['verified_blockchain'], {
          description: 'Always verified_blockchain.',
          '~remedy':
            'store the address with POST /v1/businessAccount/wallets/addresses/recipient and send its id as addressId',
        }),
        addressId: idField('The id of an active recipient address of this account.'),
      },
      { description: 'The address that is paid.' },
    ),
    amount: Type.Object(
      {
        amount: logged(
          'amount',
          Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
        ),
        currency: Type.String({
          description: 'USD (sent as USDC) or EUR (sent as EURC).',
          examples: ['USD'],
        }),
      },
      { description: 'The amount to send.' },
    ),
  },
  {
    title: 'CreateBusinessTransferRequest',
    description: 'A transfer to create.',
    examples: [
      {
        destination: { type: 'verified_blockchain', addressId: '0192f0c1-2b3c-7d4e-8f50-123456789abc' },
        amount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

const sideType = Type.Enum(['wallet', 'blockchain'], {
  description: 'wallet for the wallet of this account, blockchain for the other side.',
})
const walletId = Type.Optional(Type.String({ description: 'The wallet, on the side of this account.' }))
const chain = Type.Optional(described(businessChainField, 'The chain, on the other side.'))

export const businessTransferSchema = Type.Object(
  {
    id: idField('The id of the transfer.'),
    source: Type.Object(
      {
        type: sideType,
        id: walletId,
        chain,
        address: logged(
          'address',
          Type.Optional(
            Type.String({ description: 'The paying address of an incoming transfer, in lower case.' }),
          ),
        ),
        identities: Type.Optional(
          Type.Array(Type.Unknown(), { description: 'Always empty; with returnIdentities only.' }),
        ),
      },
      { description: 'The wallet of this account, or the address that sent the money.' },
    ),
    destination: Type.Object(
      {
        type: sideType,
        id: walletId,
        chain,
        address: logged(
          'address',
          Type.Optional(Type.String({ description: 'The receiving address, in lower case.' })),
        ),
      },
      { description: 'The address that is paid, or the wallet of this account.' },
    ),
    amount: described(moneySchema, 'The transferred amount.'),
    transactionHash: logged(
      'hash',
      Type.Optional(Type.String({ description: 'The hash of the on-chain transaction, once it is signed.' })),
    ),
    status: Type.Enum(['pending', 'running', 'complete', 'failed'], {
      description:
        'running: the transaction is on its way on chain. A server with BEZANT_TRANSFER_RUNNING=0 shows it as pending.',
    }),
    errorCode: Type.Optional(
      Type.Enum(['insufficient_funds', 'transfer_denied', 'transfer_failed', 'blockchain_error'], {
        description:
          'The reason of the failure; present when status is failed. insufficient_funds: for 24 hours nothing brought the coins or gas that it lacks, see waitingFor.',
      }),
    ),
    riskEvaluation: riskEvaluationField,
    waitingFor: waitingForField,
    createDate: createDateField,
    updateDate: dateField('The time of the latest change; later with each change.'),
  },
  { title: 'BusinessTransfer', description: 'Money that left or entered the main wallet on chain.' },
)

export const businessTransferParams = idParams('BusinessTransferId', 'the transfer')

export const businessTransferQuery = Type.Object({
  returnIdentities: Type.Optional(
    Type.Boolean({
      description: 'Also show source.identities, which is empty: the account has none on file.',
    }),
  ),
})

const walletFilter = (description: string) => Type.Optional(Type.String({ maxLength: 36, description }))

export const transferFilters = Type.Object({
  walletId: walletFilter('The wallet on either side.'),
  sourceWalletId: logged('id', walletFilter('The wallet that paid.')),
  destinationWalletId: logged('id', walletFilter('The wallet that received.')),
})
