import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { shownChallenge } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let user: Awaited<ReturnType<typeof makePinUser>>
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
  user = await makePinUser(world)
})
afterAll(() => harness?.close())

describe('the summary of a challenge', () => {
  const of = (fields: string) =>
    fields.split(',').map((field) => ({ name: field.split(' ')[0]!, type: field.split(' ')[1]! }))
  const typed = (fields: string, message: object, chainId = '0x14a34') => {
    const data = { domain: { chainId, verifyingContract: freshAddress() }, types: { Permit: of(fields) } }
    return { data: JSON.stringify({ ...data, primaryType: 'Permit', message }) }
  }
  const permit = 'owner address,spender address,value uint256,nonce uint256,deadline uint256'
  const [spender, to] = [freshAddress(), freshAddress()]
  const prices = { gasLimit: '100000', maxFee: '9000', priorityFee: '9000' }
  const signed = { to, gas: 100_000, nonce: 0, chainId: 84532, gasPrice: '9000000000000' }
  const nested = encodeFunctionData({
    abi: parseAbi(['function multicall(bytes[] data)']),
    args: [['0x12345678']],
  })

  it.each<[string, string, object, object, string[]]>([
    [
      'bytes as the text that they are',
      'sign/message',
      { message: '0x68c3bc', encodedByHex: true },
      { message: 'hü' },
      [],
    ],
    [
      'bytes that are no text as such',
      'sign/message',
      { message: '0x80ff', encodedByHex: true },
      { message: '0x80ff' },
      [],
    ],
    [
      'numbers as they are signed',
      'sign/typedData',
      typed('cost uint256', { cost: '0x64' }),
      { typedData: 'cost: 100' },
      ['permit', 'undecodable'],
    ],
    [
      'no text of one member as another',
      'sign/typedData',
      typed('memo string,cost uint256', { memo: 'a\ncost: 1', cost: 5 }),
      { typedData: 'memo: "a\\ncost: 1"\ncost: 5' },
      ['permit', 'undecodable'],
    ],
    [
      'a permission on any chain',
      'sign/typedData',
      typed(permit, { owner: to, spender, value: 7, nonce: 0, deadline: 1 }, '1234'),
      { approval: expect.stringContaining(`${spender} may take 7 units of the token 0x`) },
      ['permit'],
    ],
    [
      'the fee of a signed transaction',
      'sign/transaction',
      { transaction: JSON.stringify({ ...signed, data: '0x12345678' }) },
      { gasFee: '0.9 ETH-SEPOLIA' },
      ['undecodable'],
    ],
    [
      'the fee that the app chose',
      'transactions/contractExecution',
      { contractAddress: to, abiFunctionSignature: 'a()', ...prices },
      { gasFee: '0.9 ETH-SEPOLIA' },
      [],
    ],
    [
      'that data is not understood',
      'transactions/contractExecution',
      { contractAddress: to, callData: '0x12345678', feeLevel: 'LOW' },
      {},
      ['undecodable'],
    ],
    [
      'that a call within is not understood',
      'transactions/contractExecution',
      { contractAddress: to, callData: nested, feeLevel: 'LOW' },
      {},
      ['undecodable'],
    ],
  ])('shows %s', async (_, path, fields, shown, warnings) => {
    const id = await askUser(world, user, path, { walletId: user.wallet.id, ...fields })
    const { summary } = await shownChallenge(world, user, id)
    const names = (lines: { name: string }[]) => lines.map(({ name }) => name)
    expect(names(summary.warnings)).toEqual(warnings)
    expect(
      Object.fromEntries(
        summary.details.map((line: { name: string; value: string }) => [line.name, line.value]),
      ),
    ).toMatchObject(shown)
  })
})
