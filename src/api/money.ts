import Type from 'typebox'
import { currencyDecimals } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'

/** An amount of a merchant's wallet in the business-account API. */
export const moneySchema = Type.Object(
  {
    amount: Type.String({ format: 'decimal', examples: ['2.00'] }),
    currency: Type.Enum(['USD', 'EUR'], { description: 'USD is USDC, EUR is EURC.' }),
  },
  { description: 'An amount in whole units of its currency, as a decimal string.' },
)

export const showMoney = (atomic: bigint, currency: string) => ({
  amount: formatAmount(atomic, currencyDecimals, 2),
  currency,
})
