import type { Environment } from '../network.ts'

const accountPattern = /^(0\.0\.[1-9]\d{0,18})(?:-([a-z]{5}))?$/
const numberMax = 2n ** 63n - 1n
const ledgerIds = { LIVE: 0, TEST: 1 }

/** An account such as 0.0.123; a checksum behind it (HIP-15) must be right for the network and is not kept. */
export function parseHederaAddress(text: string, environment: Environment): string | undefined {
  const [, account = '', checksum] = accountPattern.exec(text) ?? []
  if (account === '' || BigInt(account.slice(4)) > numberMax) return undefined
  return checksum === undefined || checksum === checksumOf(account, ledgerIds[environment])
    ? account
    : undefined
}

/** HIP-15: five letters that depend on every digit of the account and on the id of the ledger. */
function checksumOf(account: string, ledgerId: number): string {
  const [cube, fifth] = [26 ** 3, 26 ** 5]
  const digits = [...account].map((digit) => (digit === '.' ? 10 : Number(digit)))
  const weighted = digits.reduce((sum, digit) => (31 * sum + digit) % cube, 0)
  const every = (start: number) =>
    digits.reduce((sum, digit, at) => (at % 2 === start ? sum + digit : sum), 0) % 11
  const ledger = [ledgerId, 0, 0, 0, 0, 0, 0].reduce((sum, byte) => (31 * sum + byte) % fifth, 0)
  const mixed = (((digits.length % 5) * 11 + every(0)) * 11 + every(1)) * cube + weighted + ledger
  const number = ((mixed % fifth) * 1_000_003) % fifth
  return [4, 3, 2, 1, 0].map((at) => String.fromCharCode(97 + (Math.floor(number / 26 ** at) % 26))).join('')
}
