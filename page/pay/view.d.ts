/** The parts of the page that the server needs; browsers load the page as it is. */

/** A way to pay, as far as its code shows it. */
export type PaymentMethod = { chain: string; address: string; paymentUri?: string }

/** The answer of `GET /page/payments/{token}`. */
export type PaymentData = { stage: string; paymentMethods: readonly PaymentMethod[] }

/** A part of the page: a text, or an element. */
export type Piece = string | { tag: string; attributes: Record<string, string>; children: readonly Piece[] }

type Choice = { path: string; chain?: string | undefined; of?: string | undefined }

export function view(data: PaymentData, options: Choice): Piece[]
export function methodOf(data: PaymentData, options: Pick<Choice, 'chain'>): PaymentMethod | undefined
export function problemView(title: string, text: string): Piece[]
