import { encodeFunctionData, getAddress, hashTypedData, parseAbi, verifyTypedData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { openSigningHarness, type SigningHarness } from '#testing/platform/signing-harness'
import { until } from '#testing/platform/until'

type Hex = `0x${string}`

let kit: SigningHarness
let address: Hex
beforeAll(async () => {
  kit = await openSigningHarness()
  ;({ address } = kit)
})
afterAll(() => kit?.harness.close())

const permit = {
  domain: {
    name: 'USDC',
    version: '2',
    chainId: 84532,
    verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
  types: {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  message: {
    owner: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    spender: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    value: '1000000',
    nonce: 0,
    deadline: '0xffffffff',
  },
}

describe('typed data', () => {
  it('is signed verifiably under both names through the published client', async () => {
    const { data } = await kit.client.signTypedData({
      walletAddress: getAddress(address),
      blockchain: 'BASE-SEPOLIA',
      data: JSON.stringify(permit),
      memo: 'a permit',
    })
    const message = { ...permit.message, value: 1_000_000n, nonce: 0n, deadline: 0xffffffffn }
    const shown = { ...permit, message, address, signature: data!.signature as Hex }
    expect(await verifyTypedData(shown as never)).toBe(true)
    const older = await kit.post('typeData', { data: JSON.stringify(permit) })
    expect(older.body.data).toEqual({ signature: data!.signature })
  })

  it('a signed permit for a spender is accepted by the token contract', async () => {
    const { rpc, tokens, outsider, oracle } = kit.harness.chain()
    const owned = { ...permit.message, owner: address, spender: outsider, nonce: '0' }
    const { body } = await kit.post('typedData', { data: JSON.stringify({ ...permit, message: owned }) })
    const data = encodeFunctionData({
      abi: parseAbi(['function permit(address,address,uint256,uint256,bytes)']),
      functionName: 'permit',
      args: [address, outsider, 1_000_000n, 0xffffffffn, body.data.signature],
    })
    await rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data, gas: '0x30d40' }])
    const to = freshAddress() as Hex
    const spend = encodeFunctionData({
      abi: parseAbi(['function transferFrom(address,address,uint256)']),
      functionName: 'transferFrom',
      args: [address, to, 1_000_000n],
    })
    await rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data: spend, gas: '0x30d40' }])
    await until(async () => (await oracle.balanceOf(to, tokens.USDC)) === 1_000_000n, 'it is spent')
  })

  const changed = (changes: Record<string, unknown>) => JSON.stringify({ ...permit, ...changes })
  const message = (changes: Record<string, unknown>) =>
    changed({ message: { ...permit.message, ...changes } })
  const types = (given: Record<string, unknown>, value: unknown) =>
    JSON.stringify({ domain: {}, types: given, primaryType: 'A', message: value })
  const domainType = (fields: unknown) => changed({ types: { ...permit.types, EIP712Domain: fields } })

  it.each([
    ['no JSON', '{', 156024, /^data$/],
    ['nothing', '', 156024, /^data$/],
    ['a list', '[]', 156026, /^data$/],
    ['null', 'null', 156026, /^data$/],
    ['too deep', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 156026, /^data/],
    ['half a character', message({ owner: 'x' }).replace('USDC', '\\ud800'), 156026, /name$/],
    ['no domain', changed({ domain: undefined }), 156026, /^data\.domain$/],
    ['a domain of text', changed({ domain: 'USDC' }), 156026, /^data\.domain$/],
    ['an unknown domain field', changed({ domain: { ...permit.domain, x: 1 } }), 156026, /^data\.domain\.x$/],
    ['a domain type of its own', domainType([{ name: 'chainId', type: 'string' }]), 156026, /EIP712Domain/],
    ['a domain that lacks a field', domainType([{ name: 'salt', type: 'bytes32' }]), 156026, /^data\.domain/],
    ['no types', changed({ types: undefined }), 156026, /^data\.types$/],
    ['no primary type', changed({ primaryType: undefined }), 156026, /^data\.primaryType$/],
    ['an unknown primary type', changed({ primaryType: 'Permit2' }), 156026, /^data\.primaryType$/],
    ['the domain as primary type', changed({ primaryType: 'EIP712Domain' }), 156026, /^data\.primaryType$/],
    ['an inherited primary type', changed({ primaryType: 'constructor' }), 156026, /^data\.primaryType$/],
    ['no message', changed({ message: undefined }), 156026, /^data\.message$/],
    ['a missing field', message({ nonce: undefined }), 156026, /^data\.message\.nonce$/],
    ['an extra field', message({ extra: 1 }), 156026, /^data\.message\.extra$/],
    [
      'an extra inherited field',
      message({}).replace('"nonce":0', '"nonce":0,"__proto__":1'),
      156026,
      /__proto__$/,
    ],
    ['a number out of range', message({ value: -1 }), 156026, /^data\.message\.value$/],
    ['a number that is none', message({ value: '1.5' }), 156026, /^data\.message\.value$/],
    ['a wrong address', message({ owner: '0x1' }), 156026, /^data\.message\.owner$/],
    [
      'a type twice',
      types(
        {
          A: [
            { name: 'x', type: 'bool' },
            { name: 'x', type: 'bool' },
          ],
        },
        { x: true },
      ),
      156026,
      /A$/,
    ],
    [
      'an unknown type',
      types({ A: [{ name: 'x', type: 'B' }] }, { x: 1 }),
      156026,
      /^data\.types\.A\[0\]\.type$/,
    ],
    [
      'a short type',
      types({ A: [{ name: 'x', type: 'uint' }] }, { x: 1 }),
      156026,
      /^data\.types\.A\[0\]\.type$/,
    ],
    ['a name with a bracket', types({ A: [{ name: 'x)', type: 'bool' }] }, { 'x)': true }), 156026, /name$/],
    ['a struct called uint256', types({ uint256: [], A: [] }, {}), 156026, /uint256$/],
    [
      'a struct in itself',
      types({ A: [{ name: 'a', type: 'A' }] }, { a: {} }),
      156026,
      /^data\.message\.a\.a$/,
    ],
    [
      'structs in each other',
      types({ A: [{ name: 'b', type: 'B' }], B: [{ name: 'a', type: 'A' }] }, { b: {} }),
      156026,
      /b\.a$/,
    ],
    [
      'a list that is none',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: true }),
      156026,
      /^data\.message\.x$/,
    ],
    ['a list of a wrong length', types({ A: [{ name: 'x', type: 'bool[2]' }] }, { x: [true] }), 156026, /x$/],
    [
      'too many values',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: Array(5_000).fill(true) }),
      156026,
      /x\[/,
    ],
    [
      'far too many values',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: Array(50_000).fill(true) }),
      156026,
      /data/,
    ],
  ])('with %s is refused', (_, data, code, location) => kit.refused('typedData', { data }, code, location))

  it('with nested types, lists and an explicit domain type is hashed as by other libraries', async () => {
    const tree = {
      domain: { name: 'Trees', salt: `0x${'12'.repeat(32)}` },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'salt', type: 'bytes32' },
        ],
        Tree: [
          { name: 'leaf', type: 'Leaf' },
          { name: 'branches', type: 'Tree[]' },
          { name: 'grid', type: 'int8[2][]' },
        ],
        Leaf: [
          { name: 'note', type: 'string' },
          { name: 'bytes', type: 'bytes' },
        ],
        Unused: [{ name: 'u', type: 'Unused[]' }],
      },
      primaryType: 'Tree',
      message: {
        leaf: { note: '☃', bytes: '0x' },
        branches: [{ leaf: { note: '', bytes: '0xff' }, branches: [], grid: [] }],
        grid: [
          [1, -2],
          [3, 4],
        ],
      },
    }
    const { body } = await kit.post('typedData', { data: JSON.stringify(tree) })
    const shown = { ...tree, address, signature: body.data.signature }
    expect(await verifyTypedData(shown as never)).toBe(true)
    expect(await verifyTypedData({ ...shown, message: { ...tree.message, grid: [] } } as never)).toBe(false)
    expect(hashTypedData(tree as never)).toMatch(/^0x/)
  })
})
