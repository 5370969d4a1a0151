import { issuerAccount } from '#sandbox/constants'
import type { TestChain } from '#testing/platform/chain'

const selectors = {
  blocklist: '0xf9f92be4',
  unblocklist: '0x1a895266',
  pause: '0x8456cb59',
  unpause: '0x3f4ba83a',
}

/** Sends a call as the issuer of USDC, before everything else in its block. */
export async function sendAsIssuer(
  { rpc, tokens }: TestChain,
  what: keyof typeof selectors,
  address = '0x',
): Promise<void> {
  const from = issuerAccount.address
  await rpc('anvil_setBalance', [from, '0xde0b6b3a7640000'])
  await rpc('anvil_impersonateAccount', [from])
  const data = selectors[what] + address.slice(2).padStart(64, '0')
  const fees = { maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x2540be400' }
  await rpc('eth_sendTransaction', [{ from, to: tokens.USDC, gas: '0x30d40', data, ...fees }])
}
