import { randomBytes } from 'node:crypto'
import { BatchEvmScheme } from '@circle-fin/x402-batching/client'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { burnIntentDigest, burnIntentSetDigest } from '#chains/crosschain/burn-intent-typed-data'
import type { BurnIntent } from '#chains/crosschain/transfer-payload'
import type { TransferSpec } from '#chains/crosschain/transfer-spec'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { gatewayMinterAbi } from '#chains/evm/unified-balance/artifacts/gateway-minter'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { hexOf } from '#lib/hex'
import { devAccounts, issuerAccount } from '#sandbox/constants'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import type { HttpAnswer, HttpOptions } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { domainOf, wordOf } from './burns.ts'

type Hex = `0x${string}`

export const { wallet, minter } = unifiedBalanceContracts('TEST')
/** Receives the fees of burns on local chains. */
export const feeRecipient = issuerAccount.address

/** Accounts with native coins on every chain; none but their owners sign for them. */
export const people = devAccounts.slice(1, 9).map(({ privateKey }) => privateKeyToAccount(privateKey))

export const randomWord = (): Hex => hexOf(randomBytes(32))
const zeroWord: Hex = `0x${'0'.repeat(64)}`
export const greatest = 2n ** 256n - 1n

/** The contracts as anybody sees and calls them through the nodes. */
function contractActions() {
  const send = async (chain: TestChain, from: string, to: string, data: Hex): Promise<Hex> => {
    const hash = await chain.rpc<Hex>('eth_sendTransaction', [{ from, to, data, gas: '0x2dc6c0' }])
    const receipt = await chain.rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash])
    if (receipt && receipt.status !== '0x1') throw new Error(`the call was reverted: ${hash}`)
    return hash
  }
  const encode = (abi: unknown, functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi, functionName, args } as never) as Hex
  const read = async <Value = bigint>(
    chain: TestChain,
    to: string,
    functionName: string,
    args: readonly unknown[],
  ) => {
    const abi = to === chain.tokens.USDC ? stablecoinAbi : to === minter ? gatewayMinterAbi : gatewayWalletAbi
    const data = await chain.rpc<Hex>('eth_call', [{ to, data: encode(abi, functionName, args) }, 'latest'])
    return decodeFunctionResult({ abi, functionName, data } as never) as Value
  }
  const callWallet = (chain: TestChain, from: string, functionName: string, args: readonly unknown[]) =>
    send(chain, from, wallet, encode(gatewayWalletAbi, functionName, args))
  return {
    send,
    read,
    callWallet,
    /** Pays a depositor and deposits it by `deposit`; returns the hash. */
    pay: async (chain: TestChain, depositor: string, amountAtomic: bigint) => {
      await chain.send(depositor, amountAtomic, 'USDC')
      await send(
        chain,
        depositor,
        chain.tokens.USDC,
        encode(stablecoinAbi, 'approve', [wallet, amountAtomic]),
      )
      return callWallet(chain, depositor, 'deposit', [chain.tokens.USDC, amountAtomic])
    },
    /** Lets an account pay for the deposit of another one. */
    payFor: async (chain: TestChain, payer: string, depositor: string, amountAtomic: bigint) => {
      await chain.send(payer, amountAtomic, 'USDC')
      await send(chain, payer, chain.tokens.USDC, encode(stablecoinAbi, 'approve', [wallet, amountAtomic]))
      return callWallet(chain, payer, 'depositFor', [chain.tokens.USDC, depositor, amountAtomic])
    },
    /** Mints what was attested, as the outsider. */
    mint: (chain: TestChain, { attestation, signature }: { attestation: Hex; signature: Hex }) =>
      send(chain, chain.outsider, minter, encode(gatewayMinterAbi, 'gatewayMint', [attestation, signature])),
    tokens: (chain: TestChain, of: string) => read(chain, chain.tokens.USDC, 'balanceOf', [of]),
    supply: (chain: TestChain) => read(chain, chain.tokens.USDC, 'totalSupply', []),
  }
}

/** Anybody's view of unified balances: the contracts through the nodes, and the API without a key. */
export function unifiedBalances(harness: Harness) {
  const contracts = contractActions()
  const http = (method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> =>
    harness.http(method, path, { ...options, headers: { authorization: undefined } })
  const balance = async (chain: TestChain, depositor: string): Promise<string> => {
    const { body } = await http('POST', '/v1/balances', {
      body: { token: 'USDC', sources: [{ depositor, domain: domainOf(chain) }] },
    })
    return body.balances[0].balance
  }
  const shows = (chain: TestChain, depositor: string, amount: string) =>
    until(
      async () => (await balance(chain, depositor)) === amount,
      `${depositor} has ${amount} on ${chain.blockchain}`,
    )
  const state = async (id: string) => (await http('GET', `/v1/transfer/${id}`)).body
  return {
    ...contracts,
    http,
    balance,
    /** Waits until the API shows this balance. */
    shows,
    /** Deposits, and waits until the whole balance is this. */
    fund: async (chain: TestChain, depositor: string, amountAtomic: bigint, shown: string) => {
      await contracts.pay(chain, depositor, amountAtomic)
      await shows(chain, depositor, shown)
    },
    transfer: (body: unknown, query = '') => http('POST', `/v1/transfer${query}`, { body }),
    state,
    /** Pays another depositor by a signed payment, as a paid server asks for it. */
    payment: async (chain: TestChain, payer: PrivateKeyAccount, payTo: string, amount: string) =>
      http('POST', '/v1/x402/settle', { body: await batchedPayment(chain, payer, payTo, amount) }),
    untilState: (id: string, wanted: string) =>
      until(async () => (await state(id)).status === wanted, `the transfer is ${wanted}`),
  }
}

export type UnifiedBalances = ReturnType<typeof unifiedBalances>

/** The terms of a payment that is settled in a batch, as a paid server names them; the amount in base units. */
export const batchedTerms = ({ chainId, tokens }: TestChain, payTo: string, amount: string) => ({
  scheme: 'exact',
  network: `eip155:${chainId}` as const,
  asset: tokens.USDC,
  amount,
  payTo,
  maxTimeoutSeconds: 604_900,
  extra: { name: 'GatewayWalletBatched', version: '1', verifyingContract: wallet },
})

/** A request for the settlement of a payment, which the published package signs. */
export async function batchedPayment(
  chain: TestChain,
  payer: PrivateKeyAccount,
  payTo: string,
  amount: string,
) {
  const paymentRequirements = batchedTerms(chain, payTo, amount)
  const signed = await new BatchEvmScheme(payer).createPaymentPayload(2, paymentRequirements as never)
  const paymentPayload = { ...signed, accepted: paymentRequirements }
  return { x402Version: 2, paymentPayload, paymentRequirements }
}

/** A transfer that its depositor signs; amounts in base units. */
export function specOf(
  from: TestChain,
  to: TestChain,
  depositor: string,
  changes: Partial<TransferSpec> = {},
): TransferSpec {
  return {
    version: 1,
    sourceDomain: domainOf(from),
    destinationDomain: domainOf(to),
    sourceContract: wordOf(wallet),
    destinationContract: wordOf(minter),
    sourceToken: wordOf(from.tokens.USDC),
    destinationToken: wordOf(to.tokens.USDC),
    sourceDepositor: wordOf(depositor),
    destinationRecipient: wordOf(depositor),
    sourceSigner: wordOf(depositor),
    destinationCaller: zeroWord,
    value: 1_000_000n,
    salt: randomWord(),
    hookData: '0x',
    ...changes,
  }
}

export const intentOf = (spec: TransferSpec, changes: Partial<BurnIntent> = {}): BurnIntent => ({
  maxBlockHeight: greatest,
  maxFee: 100_000_000n,
  spec,
  ...changes,
})

export const word = wordOf

/** As clients send it: empty hook data is left out. */
export const jsonOfIntent = ({ maxBlockHeight, maxFee, spec: { hookData, ...spec } }: BurnIntent) => ({
  maxBlockHeight: String(maxBlockHeight),
  maxFee: String(maxFee),
  spec: { ...spec, value: String(spec.value), ...(hookData !== '0x' && { hookData }) },
})

export const signedIntent = async (signer: PrivateKeyAccount, intent: BurnIntent) => ({
  burnIntent: jsonOfIntent(intent),
  signature: await signer.sign({ hash: burnIntentDigest(intent) }),
})

export const signedSet = async (signer: PrivateKeyAccount, intents: readonly BurnIntent[]) => ({
  burnIntentSet: { intents: intents.map(jsonOfIntent) },
  signature: await signer.sign({ hash: burnIntentSetDigest({ intents }) }),
})

const words = (...names: string[]) => names.map((name) => ({ name, type: 'bytes32' }))
const numbers = (type: string, ...names: string[]) => names.map((name) => ({ name, type }))

/** The typed data of an intent as JSON, for accounts that others sign for. */
export const typedDataOf = ({ maxBlockHeight, maxFee, spec }: BurnIntent): string =>
  JSON.stringify({
    domain: { name: 'GatewayWallet', version: '1' },
    primaryType: 'BurnIntent',
    types: {
      EIP712Domain: numbers('string', 'name', 'version'),
      TransferSpec: [
        ...numbers('uint32', 'version', 'sourceDomain', 'destinationDomain'),
        ...words(
          'sourceContract',
          'destinationContract',
          'sourceToken',
          'destinationToken',
          'sourceDepositor',
        ),
        ...words('destinationRecipient', 'sourceSigner', 'destinationCaller'),
        ...numbers('uint256', 'value'),
        ...words('salt'),
        ...numbers('bytes', 'hookData'),
      ],
      BurnIntent: [...numbers('uint256', 'maxBlockHeight', 'maxFee'), { name: 'spec', type: 'TransferSpec' }],
    },
    message: {
      maxBlockHeight: String(maxBlockHeight),
      maxFee: String(maxFee),
      spec: { ...spec, value: String(spec.value) },
    },
  })

/** An intent in the name of a contract. */
export const contractSigned = (intent: BurnIntent, signature: string) => ({
  burnIntent: jsonOfIntent(intent),
  signature,
  contractSigner: true,
})
