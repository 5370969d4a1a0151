import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeCall } from '#chains/evm/abi/encode'
import { ApiError } from '#lib/errors'
import { readTemplateParameters, type TemplateValues } from './read-parameters.ts'
import { type ContractTemplate, requireTemplate, templates } from './templates.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [erc20, erc721, erc1155, airdrop] = [
  'a1b74add-23e0-4712-88d1-6b3009e85a86',
  '76b83278-50e2-4006-8b63-5b1a2a814533',
  'aea21da6-0aa2-4971-9a1a-5098842b1248',
  '13e322f2-18dc-4f57-8eed-4bddfc50f85e',
].map(requireTemplate) as [ContractTemplate, ContractTemplate, ContractTemplate, ContractTemplate]

const token = { name: 'Gold', defaultAdmin: address('1'), primarySaleRecipient: address('2') }
const collection = { ...token, royaltyRecipient: address('3'), royaltyPercent: 0.05 }
const zero = address('0')

const read = (template: ContractTemplate, values: TemplateValues) =>
  readTemplateParameters(template.parameters, 'ETH-SEPOLIA', values)

/** The code and the location of the refusal. */
function refusal(template: ContractTemplate, values: TemplateValues) {
  try {
    read(template, values)
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.fields[0]!.location]
    throw error
  }
  throw new Error('The parameters were accepted')
}

type Input = { name: string; type: string }
const constructorOf = ({ abiJson }: ContractTemplate) =>
  (JSON.parse(abiJson) as { type: string; inputs: Input[] }[]).find(({ type }) => type === 'constructor')!
    .inputs

describe('the parameters of templates', () => {
  test('are in the order, number and type of the constructor', () => {
    const typeOf = { text: 'string', uri: 'string', address: 'address', addresses: 'address[]' }
    const onChain = (name: string) => name.replace('Percent', 'Bps').replace('contractUri', 'contractURI')
    for (const [id, template] of Object.entries(templates)) {
      const inputs = constructorOf(template)
      const { parameters } = template
      expect([id, inputs.map(({ name }) => name.replace(/_$/, ''))]).toEqual([
        id,
        parameters.map(({ name }) => onChain(name)),
      ])
      expect([id, inputs.map(({ type }) => type)]).toEqual([
        id,
        parameters.map(({ kind }) =>
          kind === 'fraction' ? expect.stringMatching(/^uint(96|256)$/) : typeOf[kind],
        ),
      ])
    }
  })

  test('are read into the arguments of the constructor, with the documented defaults', () => {
    expect(read(erc20, token)).toEqual(['Gold', '', address('1'), address('2'), zero, 0, '', []])
    expect(read(airdrop, { defaultAdmin: address('1') })).toEqual([address('1'), ''])
    const all = {
      ...collection,
      symbol: 'GLD',
      platformFeeRecipient: address('4'),
      platformFeePercent: 0.1,
      contractUri: 'ipfs://about',
      trustedForwarders: [address('5'), address('6')],
    }
    const expected = ['Gold', 'GLD', address('1'), address('2'), address('4'), 1_000, address('3'), 500]
    const rest = ['ipfs://about', [address('5'), address('6')]]
    expect(read(erc721, all)).toEqual([...expected, ...rest])
    expect(read(erc1155, all)).toEqual([...expected, ...rest])
  })

  test('have both documented spellings of the contract URI, not at once', () => {
    expect(read(erc20, { ...token, contractURI: 'ipfs://about' })[6]).toBe('ipfs://about')
    expect(read(airdrop, { defaultAdmin: address('1'), contractUri: 'ipfs://about' })[1]).toBe('ipfs://about')
    const both = { ...token, contractUri: 'a', contractURI: 'b' }
    expect(refusal(erc20, both)).toEqual([175203, 'templateParameters.contractURI'])
  })

  test.each([0, 0.0001, 0.0725, 0.29, 0.57, 0.9999, 1])('reads the share %d exactly', (royaltyPercent) => {
    expect(read(erc721, { ...collection, royaltyPercent })[7]).toBe(Number((royaltyPercent * 1e4).toFixed(0)))
  })

  const missing: [string, ContractTemplate, TemplateValues][] = [
    ['name', erc20, { ...token, name: undefined }],
    ['defaultAdmin', airdrop, {}],
    ['primarySaleRecipient', erc20, { ...token, primarySaleRecipient: undefined }],
    ['royaltyRecipient', erc1155, { ...token, royaltyPercent: 0 }],
    ['royaltyPercent', erc721, { ...token, royaltyRecipient: address('3') }],
    ['platformFeeRecipient', erc20, { ...token, platformFeePercent: 0.01 }],
  ]
  test.each(missing)('without %s are refused with 175204', (name, template, values) => {
    expect(refusal(template, values)).toEqual([175204, `templateParameters.${name}`])
  })

  const wrong: [string, TemplateValues][] = [
    ['name', { ...collection, name: '' }],
    ['name', { ...collection, name: 'x'.repeat(257) }],
    ['symbol', { ...collection, symbol: 5 }],
    ['contractUri', { ...collection, contractUri: 'x'.repeat(4_097) }],
    ['defaultAdmin', { ...collection, defaultAdmin: zero }],
    ['defaultAdmin', { ...collection, defaultAdmin: null }],
    ['primarySaleRecipient', { ...collection, primarySaleRecipient: '0x12' }],
    ['royaltyPercent', { ...collection, royaltyPercent: 1.01 }],
    ['royaltyPercent', { ...collection, royaltyPercent: '0.1' }],
    ['royaltyPercent', { ...collection, royaltyPercent: 0.00001 }],
    ['platformFeePercent', { ...collection, platformFeePercent: -0.1 }],
    ['trustedForwarders', { ...collection, trustedForwarders: address('5') }],
    ['trustedForwarders', { ...collection, trustedForwarders: Array(101).fill(address('5')) }],
    ['trustedForwarders[1]', { ...collection, trustedForwarders: [address('5'), 7] }],
    ['royaltyFraction', { ...collection, royaltyFraction: 0.1 }],
    ['__proto__', JSON.parse(`{"__proto__":1}`)],
  ]
  test.each(wrong)('with a wrong %s are refused with 175203', (location, values) => {
    expect(refusal(erc721, values)).toEqual([175203, `templateParameters.${location}`])
  })

  test('of any content are refused by name or can be encoded', () => {
    const names = erc721.parameters.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]))
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(collection)), fc.double())
    const sent = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), value, { maxKeys: 3 })
    const types = constructorOf(erc721).map(({ type }) => type)
    const outcomes = { encoded: 0, refused: 0 }
    fc.assert(
      fc.property(sent, (values) => {
        try {
          const list = read(erc721, { ...collection, ...values })
          encodeCall(`constructor(${types.join(',')})`, list)
          outcomes.encoded++
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          expect(error.fields[0]!.location).toMatch(/^templateParameters\./)
          outcomes.refused++
        }
      }),
      { numRuns: 300, seed: 47 },
    )
    expect(outcomes.encoded).toBeGreaterThan(10)
    expect(outcomes.refused).toBeGreaterThan(100)
  })
})

test('an unknown template is refused with 175201, and ids are read in either case', () => {
  expect(requireTemplate('A1B74ADD-23E0-4712-88D1-6B3009E85A86')).toBe(erc20)
  const unknown = () => requireTemplate('00000000-0000-4000-8000-000000000000')
  expect(unknown).toThrow(expect.objectContaining({ code: 175201, status: 404 }))
})
