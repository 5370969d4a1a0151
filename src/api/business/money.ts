import Type from 'typebox'
import { currencyDecimals } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'

const amountField = Type.String({
  format: 'decimal',
  description: 'The amount in whole units of the currency, as a decimal string.',
  examples: ['2.00'],
})

/** An amount of a merchant's wallet in the business-account API. */
export const moneySchema = Type.Object(
  {
    amount: amountField,
    currency: Type.Enum(['USD', 'EUR'], { description: 'The currency: USD is USDC, EUR is EURC.' }),
  },
  { title: 'Money', description: 'An amount of a currency.' },
)

/** Currencies of the interface; this server has tokens of USD and EUR. */
export const currencyField = Type.Enum(['USD', 'EUR', 'BTC', 'ETH'], {
  title: 'Currency',
  description: 'A currency: USD is USDC, EUR is EURC. This server does not carry BTC and ETH.',
})

/** An amount in any currency of the interface. */
export const anyMoneySchema = Type.Object(
  { amount: amountField, currency: currencyField },
  { title: 'AnyMoney', description: 'An amount of any currency of the interface.' },
)

export const showMoney = (atomic: bigint, currency: string) => ({
  amount: formatAmount(atomic, currencyDecimals, 2),
  currency,
})
