/** `npm run test:deep` runs every test at its deep size; `npm test` at the usual one, which any machine finishes in minutes. */
export const isDeep = process.env['TEST_SIZE'] === 'deep'

/** The size of a test. A variable of this name overrides both sizes, to repeat a failure or to test one property longer. */
export function sizeOf(variable: string, { usual, deep }: { usual: number; deep: number }): number {
  return Number(process.env[variable] ?? (isDeep ? deep : usual))
}
