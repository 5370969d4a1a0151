import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { payoutStatusField } from '#api/business/payout-status'
import { purposeField, shownPurposeField } from '#api/business/purpose'
import { businessChainField, createDateField, dateField, idField } from '#api/fields'
import { sendersField } from '#api/identity'
import { batchRowStates, payoutBatchStates } from '#engines/treasury/payout-batches/index'
import { described, idParams } from '#runtime/http/openapi/annotate'

/** The most characters of a file: its JSON fits into the largest body that an operation accepts by default. */
const fileCharactersMax = 1_000_000

export const newBatchSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'What the payouts are for, or the name of the file.',
    }),
    csv: Type.String({
      minLength: 1,
      maxLength: fileCharactersMax,
      description:
        'The file: CSV whose first row names the columns amount, currency (USD or EUR), either recipient (an id of the address book) or address and chain, and optionally reference. At most 5,000 rows.',
    }),
    identities: Type.Optional(sendersField),
    purposeOfTransfer: purposeField('payoutPurposeInvalid'),
  },
  {
    title: 'UploadPayoutsRequest',
    description: 'A file of payouts.',
    examples: [
      {
        name: 'Salaries of November',
        csv: 'recipient,amount,currency,reference\n0192f0c1-2b3c-7d4e-8f50-123456789abc,2.00,USD,Salary 11\n',
      },
    ],
  },
)

const stateField = Type.Enum([...payoutBatchStates], {
  title: 'PayoutBatchState',
  description:
    'previewed: it waits for an approval. approved: its rows become payouts. complete: each row is a payout, or failed to become one. cancelled: rows that are no payouts yet become none.',
})

const contentHashField = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256, in hexadecimal digits, of the payouts as they were understood.',
})

const countField = (description: string) => Type.Integer({ minimum: 0, description })

export const batchSchema = Type.Object(
  {
    id: idField('The id of the batch.'),
    name: Type.String({ description: 'The name that it was uploaded under.' }),
    state: stateField,
    contentHash: contentHashField,
    hasSenders: Type.Boolean({ description: 'Whether the senders are named, for the travel rule.' }),
    purposeOfTransfer: shownPurposeField,
    notices: Type.Array(Type.String(), { description: 'What the whole file was found to be.' }),
    uploadedBy: Type.String({ description: 'The key or member who uploaded it.' }),
    approvedBy: Type.Optional(Type.String({ description: 'The key or member who approved it.' })),
    rowCount: countField('The number of rows.'),
    errorCount: countField('The number of rows that cannot be paid: with one, nothing can be approved.'),
    warningCount: countField('The number of other rows that a person should look at.'),
    createdCount: countField('The number of rows that are payouts.'),
    failedCount: countField('The number of rows that failed to become payouts.'),
    waitingCount: countField('The number of rows that are neither.'),
    createDate: createDateField,
    updateDate: dateField('The time of the latest change.'),
  },
  { title: 'PayoutBatch', description: 'A file of payouts, as it was understood.' },
)

export const wholeBatchSchema = Type.Object(
  {
    ...batchSchema.properties,
    totals: Type.Array(
      Type.Object({
        chain: described(businessChainField, 'The chain.'),
        rowCount: countField('The number of payouts.'),
        amount: described(moneySchema, 'Their sum.'),
      }),
      { description: 'The sums of the rows that can be paid, by chain and currency.' },
    ),
    funds: Type.Array(
      Type.Object({
        total: described(moneySchema, 'The sum of the rows that can be paid.'),
        available: described(moneySchema, 'What the main wallet has available now.'),
        suffices: Type.Boolean({ description: 'Whether it suffices for all of them.' }),
      }),
      { description: 'What there is to pay with, by currency.' },
    ),
    fees: Type.Array(
      Type.Object({
        blockchain: Type.String({ description: 'The blockchain.' }),
        symbol: Type.String({ description: 'Its native coin.' }),
        atMost: Type.Optional(
          Type.String({
            description:
              'The most that the transactions of all payouts cost at the present price; absent while no node gives one.',
          }),
        ),
        owned: Type.String({ description: 'What the treasury, which pays the fees, has free of it.' }),
      }),
      { description: 'The network fees, by chain. The recipients are charged none.' },
    ),
  },
  { title: 'WholePayoutBatch', description: 'A batch of payouts with its sums.' },
)

const problemSchema = Type.Object(
  {
    column: Type.String({ description: 'The column of the file, or row.' }),
    severity: Type.Enum(['error', 'warning'], {
      title: 'PayoutProblemSeverity',
      description: 'error: the row cannot be paid. warning: it can, and a person should look at it.',
    }),
    message: Type.String({ description: 'What is wrong, and what to do.' }),
  },
  { title: 'PayoutRowProblem', description: 'What is wrong with a row.' },
)

export const batchRowSchema = Type.Object(
  {
    id: idField('The id of the row, and of its payout.'),
    row: Type.Integer({ minimum: 2, description: 'The number of the row, as a spreadsheet counts.' }),
    state: Type.Enum([...batchRowStates, 'cancelled'], {
      title: 'PayoutRowState',
      description: 'waiting, then created or failed; cancelled with its batch.',
    }),
    cells: Type.Record(Type.String(), Type.String(), {
      description: 'The texts of the file by column, as they were written.',
    }),
    problems: Type.Array(problemSchema, { description: 'What is wrong with it.' }),
    recipientId: Type.Optional(idField('The recipient of the address book.')),
    chain: Type.Optional(Type.String({ description: 'The chain of the recipient.' })),
    address: Type.Optional(Type.String({ description: 'The address of the recipient.' })),
    amount: Type.Optional(described(moneySchema, 'The amount to pay.')),
    reference: Type.Optional(Type.String({ description: 'The reference of the file.' })),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Integer({ description: 'The code that POST /v1/payouts would have answered.' }),
          message: Type.String({ description: 'Why the row is no payout.' }),
        },
        { description: 'Present on failed rows.' },
      ),
    ),
    payout: Type.Optional(
      Type.Object(
        {
          id: idField('The id of the payout.'),
          status: payoutStatusField,
          errorCode: Type.Optional(Type.String({ description: 'The errorCode of the payout.' })),
          transactionHash: Type.Optional(Type.String({ description: 'The hash of its transaction.' })),
        },
        { description: 'The payout that the row became.' },
      ),
    ),
    createDate: createDateField,
  },
  { title: 'PayoutBatchRow', description: 'A row of a file of payouts.' },
)

export const batchParams = idParams('PayoutBatchId', 'the batch')

export const batchFilters = Type.Object({ state: Type.Optional(stateField) })

export const rowFilters = Type.Object({
  hasProblem: Type.Optional(Type.Boolean({ description: 'Whether something is wrong with the row.' })),
})

export const payoutApprovalBody = Type.Object(
  { contentHash: described(contentHashField, 'The contentHash of the batch that was looked at.') },
  {
    title: 'ApprovePayoutsRequest',
    description: 'What is approved.',
    examples: [{ contentHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }],
  },
)
