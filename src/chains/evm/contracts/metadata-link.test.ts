import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import solc from 'solc'
import { expect, it } from 'vitest'
import { metadataLinkOf } from './metadata-link.ts'

const source = (settings: object) =>
  JSON.stringify({
    language: 'Solidity',
    sources: { 'Kept.sol': { content: 'contract Kept { uint256 public value = 7; }' } },
    settings: {
      ...settings,
      outputSelection: {
        '*': { '*': ['metadata', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  })

const compiled = (settings: object = {}) => {
  const { metadata, evm } = JSON.parse(solc.compile(source(settings))).contracts['Kept.sol'].Kept
  return { metadata, creation: `0x${evm.bytecode.object}`, code: `0x${evm.deployedBytecode.object}` } as const
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]

/** The CID (version 0) that IPFS gives a file of one block: the hash of its UnixFS node. */
function cidOf(text: string): string {
  const content = Buffer.from(text)
  const length = varint(content.length)
  const node = Buffer.concat([Buffer.from([8, 2, 18, ...length]), content, Buffer.from([24, ...length])])
  const block = Buffer.concat([Buffer.from([10, ...varint(node.length)]), node])
  return base58.encode(
    Buffer.concat([Buffer.from([0x12, 0x20]), createHash('sha256').update(block).digest()]),
  )
}

it('the link is the address that IPFS gives the metadata of the compiler', () => {
  const { metadata, creation, code } = compiled()
  const link = `ipfs://${cidOf(metadata)}`
  expect([metadataLinkOf(creation), metadataLinkOf(code)]).toEqual([link, link])
})

it('code that ends otherwise names no metadata', () => {
  const { code } = compiled({ metadata: { bytecodeHash: 'none' } })
  const wrongLength = compiled().code.replace(/0033$/, '0034') as typeof code
  for (const each of [code, wrongLength, '0x', '0x60'] as const) expect(metadataLinkOf(each)).toBeUndefined()
})
