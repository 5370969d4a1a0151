import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { waitingForField } from '#api/business/waiting-for'
import { blockchainField, createDateField, idField } from '#api/fields'
import { gasLevels } from '#engines/treasury/index'
import { rebalancingStatuses } from '#engines/treasury/rebalancing/index'
import { described } from '#runtime/http/openapi/annotate'

const optional = Type.Optional
const amountField = (description: string) => Type.String({ description: `${description} A decimal string.` })

const tokenSchema = Type.Object(
  {
    symbol: Type.String({ description: 'The symbol of the token.' }),
    amount: amountField('What the treasury has, by the books.'),
    held: amountField('The part of it that is reserved for transactions under way.'),
    toSweep: amountField('What is credited and still at deposit addresses, or on its way from there.'),
    owed: amountField('What payouts, transfers and refunds need here that are not sent yet.'),
  },
  { title: 'TreasuryToken', description: 'The coins of one token.' },
)

const treasurySchema = Type.Object(
  {
    blockchain: Type.String({ description: 'The blockchain.' }),
    address: optional(
      Type.String({
        description:
          'The address. Native coins that are sent there pay for gas. Absent until the first payment or sweep on the chain opens it.',
      }),
    ),
    gas: optional(
      Type.Enum([...gasLevels], {
        title: 'GasLevel',
        description:
          'plenty; low: fund it before payments wait; none: payouts, transfers, refunds and sweeps wait until it is funded. Absent without an address, and while no node gives the price of gas.',
      }),
    ),
    transactionCost: optional(
      amountField('The most that one transaction costs now, in native coins; absent with gas.'),
    ),
    nativeSymbol: Type.String({ description: 'The symbol of the native coin.' }),
    native: amountField('The native coins that it has, by the books.'),
    tokens: Type.Array(tokenSchema, { description: 'The stablecoins of the chain.' }),
  },
  { title: 'Treasury', description: 'The address that pays for the entity on one chain.' },
)

export const waitingMax = 50

const waitingSchema = Type.Object(
  {
    id: idField('The payout, transfer or refund.'),
    kind: Type.Enum(['payout', 'transfer', 'refund', 'redemption'], {
      title: 'DisbursementKind',
      description: 'What waits.',
    }),
    amount: described(moneySchema, 'What is to be paid.'),
    waitingFor: waitingForField,
    createDate: createDateField,
  },
  { title: 'WaitingDisbursement', description: 'An outgoing payment that lacks coins or gas.' },
)

export const treasuryStateSchema = Type.Object(
  {
    treasuries: Type.Array(treasurySchema, {
      description:
        'The treasuries of the entity, one on each chain where it has needed one, or where coins wait to be swept.',
    }),
    waiting: Type.Array(waitingSchema, {
      description: `Outgoing payments that wait for coins or gas, the oldest first, at most ${waitingMax}.`,
    }),
  },
  { title: 'TreasuryState', description: 'What the treasuries of an entity have and owe.' },
)

export const rebalancingSchema = Type.Object(
  {
    id: idField('The id of the rebalancing, and of the transaction that burns the coins.'),
    status: Type.Enum([...rebalancingStatuses], {
      title: 'RebalancingStatus',
      description:
        'collecting: the treasury gets the coins together. approving: it allows the burn. burning: the burn is recorded. minting: so is the mint. complete; failed: nothing was burned.',
    }),
    amount: amountField('The amount of USDC.'),
    fromBlockchain: described(blockchainField, 'The chain that the coins leave.'),
    toBlockchain: described(blockchainField, 'The chain that lacks them.'),
    errorReason: optional(Type.String({ description: 'Why it failed.' })),
    createDate: createDateField,
  },
  { title: 'Rebalancing', description: 'Coins that a treasury moves to another chain.' },
)

const allowedField = Type.Boolean({ description: 'Whether coins may be moved between chains.' })
const maxDescription = 'The most USDC that one message moves.'
const reserveDescription =
  'The USDC that stays on the chain that the coins leave, besides what its own disbursements need.'

export const rebalancingPolicySchema = Type.Object(
  {
    allowed: allowedField,
    max: optional(amountField(`${maxDescription} Present when it is allowed.`)),
    reserve: optional(amountField(`${reserveDescription} Present when it is allowed.`)),
  },
  { title: 'RebalancingPolicy', description: 'Whether coins are moved between chains, and how many.' },
)

export const rebalancingPolicyBody = Type.Object(
  {
    allowed: allowedField,
    max: optional(amountField(`${maxDescription} Needed to allow it.`)),
    reserve: optional(amountField(`${reserveDescription} Default: 0.`)),
  },
  {
    title: 'SetRebalancingPolicyRequest',
    description: 'The policy to set.',
    examples: [{ allowed: true, max: '10000', reserve: '500' }],
  },
)
