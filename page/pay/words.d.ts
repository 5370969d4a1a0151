import type { PaymentData } from './view.js'

export function titleOf(data: PaymentData): string
