/**
 * Estimates of user operations as the bundler client of viem asks for them: validation is simulated, and each code of the EntryPoint
 * has its real cause, a contract on the chain that fails so.
 */
import { type Address, BaseError, createClient, encodeErrorResult, type Hex, http, parseAbi } from 'viem'
import {
  createBundlerClient,
  entryPoint07Abi,
  type SmartAccount,
  toSmartAccount,
} from 'viem/account-abstraction'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addressOwner,
  baseSepoliaChain,
  executeOperation,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { freshAddress } from '#testing/builders/world'
import { returns, revertsWith } from '#testing/nodes/contract-codes'
import {
  chainId,
  entryPoint,
  inHex,
  type Prepared,
  pageRequests,
  prepared,
  signed,
  withSponsor,
} from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let page: Awaited<ReturnType<typeof openModularAccount>>
beforeAll(async () => {
  harness = await openHarness()
  page = await openModularAccount(harness, harness)
  await executeOperation(page.bundler, [payment()])
})
afterAll(() => harness?.close())

const { refusal, sponsor, sponsoredAgain } = pageRequests(() => harness)
const payment = () => usdcPayment(harness, freshAddress())

const abi = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error PaymasterUnauthorized(address)',
  'error Closed(uint256 until)',
  'function open()',
])
const said = (text: string) => encodeErrorResult({ abi, errorName: 'Error', args: [text] })
const panicked = encodeErrorResult({ abi, errorName: 'Panic', args: [0x11n] })
const closed = encodeErrorResult({ abi, errorName: 'Closed', args: [7n] })
const unauthorized = (address: Address) =>
  encodeErrorResult({ abi, errorName: 'PaymasterUnauthorized', args: [address] })

/** A contract with this code at an address of its own. */
async function standing(code: Hex): Promise<Address> {
  const address = freshAddress() as Address
  await harness.chain().rpc('anvil_setCode', [address, code])
  return address
}

const stub: Hex = `0x${'11'.repeat(65)}`
const empty = freshAddress() as Address

/** Returns a smart account of viem for the contract at an address, of any maker. */
function accountAt(
  client: unknown,
  address: Address,
  creation: { factory?: Address; factoryData?: Hex } = {},
): Promise<SmartAccount> {
  const unused = () => Promise.reject(new Error('estimates sign nothing'))
  return toSmartAccount({
    client: client as never,
    entryPoint: { abi: entryPoint07Abi, address: entryPoint, version: '0.7' },
    encodeCalls: async () => '0x',
    getAddress: async () => address,
    getNonce: async () => 0n,
    getFactoryArgs: async () => ({ factory: undefined, factoryData: undefined, ...creation }),
    getStubSignature: async () => stub,
    signMessage: unused,
    signTypedData: unused,
    signUserOperation: unused,
  })
}

type Asked = {
  code?: Hex
  factory?: Hex
  [field: string]: unknown
}

/** Asks for the estimate of an operation of a contract with `code`, or of one that a contract with the code `factory` creates. */
async function estimate({ code, factory, ...fields }: Asked) {
  const fetchOptions = { headers: { authorization: `Bearer ${harness.clientKey}` } }
  const transport = http(`${harness.url}/v1/rpc/w3s/buidl/baseSepolia`, { fetchOptions })
  const client = createClient({ chain: baseSepoliaChain, transport })
  const address = code ? await standing(code) : (freshAddress() as Address)
  const creation = factory && { factory: await standing(factory), factoryData: '0x01' as Hex }
  const account = await accountAt(client, address, creation)
  const bundler = createBundlerClient({ client, chain: baseSepoliaChain, transport })
  return bundler.estimateUserOperationGas({ account, calls: [{ to: empty }], ...fields } as never)
}

/** The error that the client throws: the name of its class, its code and its text. */
async function failed(run: Promise<unknown>) {
  const error = await run.then(
    (gas) => expect.fail(`it was estimated: ${Object.keys(gas as object).join(', ')}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof BaseError)) throw error
  const answered = error.walk((each) => typeof (each as { code?: unknown }).code === 'number')
  const { code, details, data } = answered as unknown as { code: number; details: string; data?: unknown }
  return { name: (error.cause as Error).name, code, details, ...(data !== undefined && { data }) }
}

const accepts = returns(0n)
const refuses = returns(1n)
/** The answer of a paymaster: no context, and how it judges the operation. */
const pays = (judgement: bigint) => returns(0x40n, judgement, 0n)
const known = { callGasLimit: 50_000n, verificationGasLimit: 100_000n, preVerificationGas: 60_000n }
const priced = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 6n }
const paid = { paymasterVerificationGasLimit: 100_000n, paymasterPostOpGasLimit: 0n, paymasterData: '0x' }

describe('property 149: an estimate is refused for what the validation of its operation fails by', () => {
  it.each<[string, string, Asked]>([
    ['AA13 initCode failed or OOG', 'InitCodeFailedError', { factory: revertsWith(said('no')) }],
    ['AA14 initCode must return sender', 'InitCodeMustReturnSenderError', { factory: returns(7n) }],
    ['AA20 account not deployed', 'AccountNotDeployedError', {}],
    ["AA21 didn't pay prefund", 'InsufficientPrefundError', { code: accepts, ...known, ...priced }],
    [
      'AA23 reverted: not by this key',
      'SmartAccountFunctionRevertedError',
      { code: revertsWith(said('not by this key')) },
    ],
    [
      'AA23 reverted: panic 0x11, arithmetic overflow or underflow',
      'SmartAccountFunctionRevertedError',
      { code: revertsWith(panicked) },
    ],
    [
      'AA23 reverted: custom error 0x6cc09e7b, with 32 bytes of arguments',
      'SmartAccountFunctionRevertedError',
      { code: revertsWith(closed) },
    ],
    ['AA23 reverted', 'SmartAccountFunctionRevertedError', { code: '0x5f5ffd' }],
    [
      'AA23 reverted: the account does not answer as ERC-4337 says',
      'SmartAccountFunctionRevertedError',
      { code: '0x5f5ff3' },
    ],
    ['AA25 invalid account nonce', 'InvalidAccountNonceError', { code: accepts, nonce: 5n }],
    [
      'AA26 over verificationGasLimit',
      'UserOperationRejectedByEntryPointError',
      { code: accepts, ...known, verificationGasLimit: 2_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    ],
  ])('%s', async (details, name, asked) => {
    expect(await failed(estimate(asked))).toEqual({ name, code: -32500, details })
  })

  it('AA10 and AA15, of a factory that creates another account, or one that stands there', async () => {
    const address = await standing(accepts)
    const creation = { factory: await standing(returns(address)), factoryData: '0x01' as Hex }
    const twice = { sender: address, nonce: '0x0', callData: '0x', signature: stub, ...creation }
    expect(await refusal('eth_estimateUserOperationGas', [twice, entryPoint])).toEqual([
      -32500,
      'AA10 sender already constructed',
    ])
    const sender = freshAddress() as Address
    const other = { ...twice, sender, factory: await standing(returns(sender)) }
    expect(await refusal('eth_estimateUserOperationGas', [other, entryPoint])).toEqual([
      -32500,
      'AA15 initCode must create sender',
    ])
  })

  it.each<[string, string, Hex | undefined, object]>([
    ['AA30 paymaster not deployed', 'PaymasterNotDeployedError', undefined, {}],
    ['AA31 paymaster deposit too low', 'PaymasterDepositTooLowError', pays(0n), { ...known, ...priced }],
    [
      'AA33 reverted: this page has no coins',
      'PaymasterFunctionRevertedError',
      revertsWith(said('this page has no coins')),
      {},
    ],
    [
      `AA33 reverted: PaymasterUnauthorized(0x${'22'.repeat(20)})`,
      'PaymasterFunctionRevertedError',
      revertsWith(unauthorized(`0x${'22'.repeat(20)}`)),
      {},
    ],
    [
      'AA36 over paymasterVerificationGasLimit',
      'PaymasterFunctionRevertedError',
      pays(0n),
      { ...known, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, paymasterVerificationGasLimit: 800n },
    ],
  ])('%s', async (details, name, code, fields) => {
    const paymaster = code ? await standing(code) : (freshAddress() as Address)
    const error = await failed(estimate({ code: accepts, paymaster, ...paid, ...fields }))
    expect(error).toMatchObject({ code: -32501, details, data: { paymaster: paymaster.toLowerCase() } })
    if (!details.startsWith('AA36')) expect(error.name).toBe(name)
  })

  it('a call that reverts is refused with the reason and error that the client decodes', async () => {
    const { bundler } = page
    const beyond = usdcPayment(harness, freshAddress(), 10n ** 15n)
    expect(await failed(bundler.estimateUserOperationGas({ calls: [beyond] } as never))).toMatchObject({
      name: 'ExecutionRevertedError',
      code: -32521,
      details: expect.stringContaining('ERC20: transfer amount exceeds balance'),
      data: { revertData: said('ERC20: transfer amount exceeds balance') },
    })
    const shop = await standing(revertsWith(closed))
    const call = { to: shop, abi, functionName: 'open' }
    const error = await bundler.sendUserOperation({ calls: [call] } as never).catch((thrown: Error) => thrown)
    expect(String(error)).toMatch(/Closed\(uint256 until\)\s+\(7\)/)
  })
})

describe('an estimate is given', () => {
  it.each<[string, Asked]>([
    ['though a signature is not valid yet', { code: refuses }],
    ['though nobody pays while its gas is not known', { code: accepts, ...priced }],
    ['though a part of its gas is not known', { code: accepts, ...priced, verificationGasLimit: 100_000n }],
    ['of an account whose operation is over', { code: returns((1n << 160n) | 1n) }],
  ])('%s', async (_, asked) => {
    expect(await estimate(asked)).toMatchObject({ callGasLimit: expect.any(BigInt) })
  })

  it('though a paymaster has not signed, or has no deposit yet', async () => {
    const [unsigned, unpaid] = [await standing(pays(1n)), await standing(pays(0n))]
    for (const paymaster of [unsigned, unpaid])
      expect(await estimate({ code: accepts, ...priced, paymaster, paymasterData: '0x' })).toMatchObject({
        paymasterVerificationGasLimit: expect.any(BigInt),
      })
  })

  it('without a signature, where an account reverts for want of one', async () => {
    const sender = await standing(revertsWith(said('no signature')))
    const call = { sender, nonce: '0x0', callData: '0x' }
    const [code, message] = await refusal('eth_estimateUserOperationGas', [call, entryPoint])
    expect([code, message]).toEqual([-32521, expect.stringContaining('no signature')])
  })

  it('without gas, prices and a signature, deployed or not', async () => {
    const unused = await openModularAccount(harness, harness, addressOwner())
    for (const { bundler } of [page, unused]) {
      const operation = inHex(await prepared(bundler, [payment()]))
      const absent = {
        callGasLimit: undefined,
        verificationGasLimit: undefined,
        preVerificationGas: undefined,
      }
      const unpriced = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, signature: undefined }
      const bare = { ...operation, ...absent, ...unpriced }
      expect(await refusal('eth_estimateUserOperationGas', [bare, entryPoint])).toEqual([
        undefined,
        undefined,
      ])
      const alone = { ...bare, paymaster: undefined, paymasterData: undefined }
      expect(await refusal('eth_estimateUserOperationGas', [alone, entryPoint])).toEqual([
        undefined,
        undefined,
      ])
    }
  })
})

describe('estimate and send', () => {
  it('refuse an operation with the same code and text', async () => {
    const { account, bundler } = page
    const good = await prepared(bundler, [payment()])
    const nonce = (good['nonce'] as bigint) + 5n
    const late = await sponsoredAgain(account, { ...good, nonce } as Prepared)
    const sound = await sponsoredAgain(account, good)
    const { result } = await sponsor(good)
    const unpaid = await signed(
      account,
      withSponsor(good, { ...result, paymasterVerificationGasLimit: '0x64' }),
    )
    const cases: [object, number, string][] = [
      [late, -32500, 'AA25 invalid account nonce'],
      [{ ...sound, verificationGasLimit: '0x64' }, -32500, 'AA23 reverted'],
      [unpaid, -32501, 'AA33 reverted'],
    ]
    for (const [operation, code, details] of cases) {
      const sent = await refusal('eth_sendUserOperation', [operation, entryPoint])
      expect(sent).toEqual([code, details])
      expect(await refusal('eth_estimateUserOperationGas', [operation, entryPoint])).toEqual(sent)
    }
    expect(await refusal('eth_estimateUserOperationGas', [sound, entryPoint])).toEqual([undefined, undefined])
    expect(await refusal('pm_getPaymasterStubData', [sound, entryPoint, chainId])).toEqual([
      undefined,
      undefined,
    ])
  })
})
