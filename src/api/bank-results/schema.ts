import Type from 'typebox'
import { idField } from '#api/fields'
import { bankErrorCodes } from '#engines/treasury/banking/index'
import { logged } from '#runtime/http/openapi/annotate'

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

export const bankResultSchema = Type.Object(
  {
    type: Type.Enum(['account', 'payout', 'deposit'], {
      description:
        'account: the bank has decided about an account to link. payout: about a payout. deposit: a wire has arrived.',
    }),
    entityId: idField('The entity, as the order names it.'),
    id: Type.Optional(idField('Of account and payout: the id of the order.')),
    status: Type.Optional(
      Type.Enum(['complete', 'failed', 'returned'], {
        description:
          'Of account and payout: what became of it. returned: of a payout that was paid and came back.',
      }),
    ),
    errorCode: Type.Optional(
      Type.Enum([...bankErrorCodes], {
        description: 'Of a failed payout: the reason; by default transaction_failed.',
      }),
    ),
    reason: text('Of a payout that came back: the reason in words.'),
    trackingRef: text('Of a payout: the reference of the wire.'),
    externalRef: text('Of a payout: the reference of the bank.'),
    bankAccountId: Type.Optional(idField('Of a deposit: the linked account that the wire came from.')),
    reference: text('Of a deposit: the name that the bank has for it. Reported twice, it counts once.'),
    amount: Type.Optional(
      Type.Object(
        {
          amount: logged('amount', Type.String({ description: 'Above zero, as a decimal string.' })),
          currency: Type.Enum(['USD'], { description: 'Always USD.' }),
        },
        { description: 'Of a deposit: the amount.' },
      ),
    ),
    transactionHash: text(
      'Of a deposit, and of a payout that failed or was returned: the transaction that brought exactly this amount of coins to the treasury of the entity.',
    ),
  },
  {
    title: 'BankResult',
    description: 'A result that a bank reports.',
    examples: [
      {
        type: 'payout',
        entityId: '0192f0c1-2b3c-7d4e-8f50-123456789abc',
        id: '0192f0c1-2b3c-7d4e-8f50-123456789abd',
        status: 'complete',
        externalRef: '20261130MMQFMP9N000001',
      },
    ],
  },
)
