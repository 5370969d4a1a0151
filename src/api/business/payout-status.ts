import Type from 'typebox'
import { payoutStatuses } from '#engines/treasury/disbursements/index'

export const payoutStatusField = Type.Enum([...payoutStatuses], {
  title: 'PayoutStatus',
  description: 'pending, then complete or failed.',
})
