import {
  createPermit2ApprovalTx,
  toClientEvmSigner,
  toFacilitatorEvmSigner,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from '@x402/evm'
import { ExactEvmScheme as Paying } from '@x402/evm/exact/client'
import { ExactEvmScheme as Settling } from '@x402/evm/exact/facilitator'
import { UptoEvmScheme as PayingUpto } from '@x402/evm/upto/client'
import { UptoEvmScheme as SettlingUpto } from '@x402/evm/upto/facilitator'
import {
  concatHex,
  createPublicClient,
  createWalletClient,
  erc20Abi,
  getContractAddress,
  http,
  keccak256,
  padHex,
  parseAbi,
  parseTransaction,
  publicActions,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { arbitrumSepolia, baseSepolia, zksyncSepoliaTestnet } from 'viem/chains'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exactPermit2ProxyCode } from '#chains/evm/infrastructure/artifacts/exact-permit2-proxy'
import { freeGasPriceOracleAbi } from '#chains/evm/infrastructure/artifacts/free-gas-price-oracle'
import { uptoPermit2ProxyCode } from '#chains/evm/infrastructure/artifacts/upto-permit2-proxy'
import { wrappedEtherAbi } from '#chains/evm/infrastructure/artifacts/wrapped-ether'
import { networks } from '#chains/networks/index'
import { permit2Code } from '#sandbox/artifacts/infrastructure-code'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '#testing/builders/world'
import { startTestChains } from '#testing/platform/chain'

// Clients that carry what they know of a public chain, and meet the local one.

let local: Awaited<ReturnType<typeof startTestChains>>
beforeAll(async () => {
  local = await startTestChains({ blockchains: ['BASE-SEPOLIA', 'ARB-SEPOLIA', 'ZKS-SEPOLIA'] })
})
afterAll(() => local.stop())

const clientOf = (index: number, key = devAccounts[0]!.privateKey) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: { ...baseSepolia, id: local.chains[index]!.chainId },
    transport: http(local.chains[index]!.rpcUrl),
  }).extend(publicActions)

/** The names that published tables give: x402 1.2.0 and @x402/evm 2.27.0 (their default assets), @faremeter/info 0.22.0
 * (known assets), uvd-x402-sdk 2.38.0 (networks), r402-evm 0.20.0 (deployments of USDC). EURC is no coin of the three networks
 * that only the last one lists. Those without a table have the name of their kind, deployed since 2024. */
const publishedNames: Record<string, string> = {
  'ETH:USDC': 'USD Coin',
  'ETH:EURC': 'Euro Coin',
  'AVAX:USDC': 'USD Coin',
  'AVAX:EURC': 'EURC',
  'MATIC:USDC': 'USD Coin',
  'ARB:USDC': 'USD Coin',
  'OP:USDC': 'USD Coin',
  'BASE:USDC': 'USD Coin',
  'BASE:EURC': 'EURC',
  'UNI:USDC': 'USDC',
  'MONAD:USDC': 'USDC',
  'BASE-SEPOLIA:USDC': 'USDC',
  'AVAX-FUJI:USDC': 'USD Coin',
  'ARB-SEPOLIA:USDC': 'USD Coin',
  'MATIC-AMOY:USDC': 'USDC',
  'MONAD-TESTNET:USDC': 'USDC',
  'UNI-SEPOLIA:USDC': 'USDC',
  'LINEA-SEPOLIA:USDC': 'USDC',
  'ZKS-SEPOLIA:USDC': 'USDC',
}

it('coins have the names of their contracts on each network, as published tables list them', async () => {
  const listed = networks.flatMap(({ blockchain, tokens }) =>
    tokens.map(({ symbol, name }) => [`${blockchain}:${symbol}`, name] as const),
  )
  expect(Object.fromEntries(listed.filter(([token]) => token in publishedNames))).toEqual(publishedNames)
  const abi = parseAbi(['function name() view returns (string)', 'function version() view returns (string)'])
  for (const [index, chain] of local.chains.entries()) {
    const address = chain.tokens.USDC as `0x${string}`
    const read = (functionName: 'name' | 'version') =>
      clientOf(index).readContract({ address, abi, functionName })
    const name = publishedNames[`${chain.blockchain}:USDC`] ?? 'USDC'
    expect([await read('name'), await read('version')]).toEqual([name, '2'])
  }
})

it('a payment that @x402/evm signs settles by transferWithAuthorization', async () => {
  const [chain] = local.chains
  const payer = clientOf(0, devAccounts[1]!.privateKey)
  const treasury = freshAddress() as `0x${string}`
  await chain!.send(payer.account.address, 5_000_000n, 'USDC')
  const requirements = {
    scheme: 'exact',
    network: 'eip155:84532' as const,
    payTo: treasury,
    maxTimeoutSeconds: 60,
    // The fields that a server of this scheme takes from the table of the package.
    asset: chain!.tokens.USDC,
    amount: '1250000',
    extra: { name: 'USDC', version: '2' },
  }
  const signer = toClientEvmSigner(payer.account, payer as never)
  const signed = await new Paying(signer).createPaymentPayload(2, requirements)
  const settling = clientOf(0)
  const facilitator = new Settling(
    toFacilitatorEvmSigner(Object.assign(settling, { address: settling.account.address }) as never),
  )
  const payload = { ...signed, accepted: requirements }
  expect(await facilitator.verify(payload, requirements)).toMatchObject({ isValid: true })
  expect(await facilitator.settle(payload, requirements)).toMatchObject({ success: true })
  const usdc = { address: chain!.tokens.USDC as `0x${string}`, abi: erc20Abi }
  const balance = await settling.readContract({ ...usdc, functionName: 'balanceOf', args: [treasury] })
  expect(balance).toBe(1_250_000n)
})

it('the published facilitator settles by Permit2 through its spenders, which pay as they were told', async () => {
  const [chain] = local.chains
  const payer = clientOf(0, devAccounts[2]!.privateKey)
  const settling = clientOf(0)
  await chain!.send(payer.account.address, 5_000_000n, 'USDC')
  const approval = await payer.sendTransaction(createPermit2ApprovalTx(chain!.tokens.USDC as `0x${string}`))
  await payer.waitForTransactionReceipt({ hash: approval })
  const payTo = freshAddress() as `0x${string}`
  const { address: facilitatorAddress } = settling.account
  const required = {
    scheme: 'exact',
    network: 'eip155:84532' as const,
    payTo,
    amount: '1000000',
    maxTimeoutSeconds: 600,
    asset: chain!.tokens.USDC,
    extra: { name: 'USDC', version: '2', assetTransferMethod: 'permit2', facilitatorAddress },
  }
  const signer = toClientEvmSigner(payer.account, payer as never)
  const settler = toFacilitatorEvmSigner(Object.assign(settling, { address: facilitatorAddress }) as never)
  for (const [paying, facilitator, requirements, amount] of [
    [new Paying(signer), new Settling(settler, { simulateInSettle: true }), required, '1000000'],
    [new PayingUpto(signer), new SettlingUpto(settler), { ...required, scheme: 'upto' }, '1'],
  ] as const) {
    const payload = { ...(await paying.createPaymentPayload(2, requirements)), accepted: requirements }
    expect(await facilitator.verify(payload, requirements)).toMatchObject({ isValid: true })
    const charged = { ...requirements, amount }
    expect(await facilitator.settle(payload, charged)).toMatchObject({ success: true })
    // It works once.
    expect(await facilitator.verify(payload, requirements)).toMatchObject({ isValid: false })
  }
  const usdc = { address: chain!.tokens.USDC as `0x${string}`, abi: erc20Abi }
  const balance = await settling.readContract({ ...usdc, functionName: 'balanceOf', args: [payTo] })
  expect(balance).toBe(1_000_001n)
})

it("multicall, and calls that viem collects, work with viem's own definitions of chains", async () => {
  for (const [index, chain] of [baseSepolia, arbitrumSepolia, zksyncSepoliaTestnet].entries()) {
    const { rpcUrl, tokens } = local.chains[index]!
    const client = createPublicClient({ chain, transport: http(rpcUrl), batch: { multicall: true } })
    const token = (address: string) => ({ address: address as `0x${string}`, abi: erc20Abi }) as const
    const contracts = [
      { ...token(tokens.USDC), functionName: 'symbol' },
      { ...token(tokens.EURC), functionName: 'decimals' },
    ] as const
    expect(await client.multicall({ contracts, allowFailure: false })).toEqual(['USDC', 6])
    const collected = contracts.map((each) => client.readContract(each as (typeof contracts)[0]))
    expect(await Promise.all(collected)).toEqual(['USDC', 6])
    // The published hash of the code, on all chains.
    const code = await client.getCode({ address: chain.contracts.multicall3.address })
    expect(keccak256(code!)).toBe('0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891')
  }
})

it('Permit2, its spenders, the deterministic deployers and the contracts of the OP stack stand at their addresses', async () => {
  const client = clientOf(0)
  const sizes = {
    '0x000000000022D473030F116dDEE9F6B43aC78BA3': permit2Code.length / 2 - 1,
    [x402ExactPermit2ProxyAddress]: exactPermit2ProxyCode.runtime.length / 2 - 1,
    [x402UptoPermit2ProxyAddress]: uptoPermit2ProxyCode.runtime.length / 2 - 1,
    '0x4e59b44847b379578588920cA78FbF26c0B4956C': 69,
    '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7': 69,
    '0xce0042B868300000d44A59004Da54A005ffdcf9f': 308,
  } as const
  for (const [address, bytes] of Object.entries(sizes)) {
    const code = await client.getCode({ address: address as `0x${string}` })
    expect([address, (code?.length ?? 2) / 2 - 1]).toEqual([address, bytes])
  }
  const oracle = {
    address: '0x420000000000000000000000000000000000000F',
    abi: freeGasPriceOracleAbi,
  } as const
  const fee = client.readContract({ ...oracle, functionName: 'getL1Fee', args: ['0x1234'] })
  expect(await fee).toBe(0n)
  const weth = { address: '0x4200000000000000000000000000000000000006', abi: wrappedEtherAbi } as const
  const deposited = await client.writeContract({ ...weth, functionName: 'deposit', value: 7n })
  await client.waitForTransactionReceipt({ hash: deposited })
  const withdrawn = await client.writeContract({ ...weth, functionName: 'withdraw', args: [3n] })
  await client.waitForTransactionReceipt({ hash: withdrawn })
  const { address } = client.account
  expect(await client.readContract({ ...weth, functionName: 'balanceOf', args: [address] })).toBe(4n)
  expect(await client.readContract({ ...weth, functionName: 'totalSupply' })).toBe(4n)
})

it('a transaction without a chain id, as CreateX publishes its creation, creates its contract on any chain', async () => {
  const sender = privateKeyToAccount(generatePrivateKey())
  const creation = { data: '0x600160005360016000f3', gas: 3_000_000n, gasPrice: 100_000_000_000n } as const
  const raw = await sender.signTransaction({ ...creation, type: 'legacy', nonce: 0 })
  expect(parseTransaction(raw).chainId).toBeUndefined()
  for (const [index, chain] of local.chains.entries()) {
    await chain.rpc('anvil_setBalance', [sender.address, toHex(3n * 10n ** 17n)])
    const client = clientOf(index)
    const hash = await client.sendRawTransaction({ serializedTransaction: raw })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    expect(await client.getCode({ address: contractAddress! })).toBe('0x01')
  }
})

it('a contract is deployed through each deterministic deployer to the address that programs compute', async () => {
  const client = clientOf(0)
  // Code that returns one byte of runtime code.
  const bytecode = '0x600160005360016000f3'
  for (const from of [
    '0x4e59b44847b379578588920cA78FbF26c0B4956C',
    '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7',
  ] as const) {
    const salt = padHex('0x5a17')
    await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ to: from, data: concatHex([salt, bytecode]) }),
    })
    const address = getContractAddress({ opcode: 'CREATE2', from, salt, bytecode })
    expect(await client.getCode({ address })).toBe('0x01')
  }
})
