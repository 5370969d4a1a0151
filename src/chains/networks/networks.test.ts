import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  blockchains,
  environmentOf,
  familyOf,
  isBlockchain,
  isVirtual,
  walletBlockchains,
} from '../blockchains.ts'
import { localEurcAddress, stablecoinsOf, tokenAddress, tokenIdName, tokenIdNamespace } from '../network.ts'
import { furtherEvm } from './further-evm.ts'
import { networkOf, networkOfBusinessChain, networks } from './index.ts'

/** The ids that the API's clients hard-code; every other id is computed. */
const wellKnownIds: Record<string, string> = {
  'ETH:USDC': 'b037d751-fb22-5f0d-bae6-47373e7ae3e3',
  'ETH-SEPOLIA:USDC': '5797fbd6-3795-519d-84ca-ec4c5f80c3b1',
  'AVAX:USDC': '7efdfdbf-1799-5089-a588-31beb97ba755',
  'AVAX-FUJI:USDC': 'ff47a560-9795-5b7c-adfc-8f47dad9e06a',
  'MATIC:USDC': 'db6905b9-8bcd-5537-8b08-f5548bdf7925',
  'MATIC-AMOY:USDC': '36b6931a-873a-56a8-8a27-b706b17104ee',
  'ARB:USDC': 'c87ffcb4-e2cf-5e67-84c6-388c965d2a66',
  'ARB-SEPOLIA:USDC': '4b8daacc-5f47-5909-a3ba-30d171ebad98',
  'BASE:USDC': '915ce944-32df-5df5-a6b1-daa9b5069f96',
  'BASE-SEPOLIA:USDC': 'bdf128b4-827b-5267-8f9e-243694989b5f',
  'MONAD-TESTNET:USDC': '17fe0589-b511-546c-9eff-84087524f47e',
  'UNI:USDC': '643096e8-e4c5-5ee7-a5d5-38c80fdc3f3b',
  'ARC-TESTNET:USDC': '15dc2b5d-0994-58b0-bf8c-3a0501148ee8',
  'ARC-TESTNET:EURC': '4ea52a96-e6ae-56dc-8336-385bb238755f',
  'APTOS:USDC': '298eebe2-3131-5183-b528-f925f70848d0',
  'APTOS-TESTNET:USDC': 'e3cbdafc-42c3-58cc-ae4c-b31dbb10354c',
  'APTOS-TESTNET:APT-TESTNET': 'd457a992-b109-50eb-b5aa-9ef4609e81d2',
  'SOL:USDC': '33ca4ef6-2500-5d79-82bf-e3036139cc29',
  'SOL-DEVNET:USDC': '8fb3cadb-0ef4-573d-8fcd-e194f961c728',
  'SOL-DEVNET:SOL-DEVNET': 'ecf919b4-517f-5fde-b82b-393d1092e5fc',
  'ETH-SEPOLIA:ETH-SEPOLIA': '979869da-9115-5f7d-917d-12d434e56ae7',
  'ETH-SEPOLIA:EURC': 'c22b378a-843a-59b6-aaf5-bcba622729e6',
  'BASE-SEPOLIA:ETH-SEPOLIA': 'f2ab11ae-53fa-5373-86e5-8b38447b65fb',
  'ARB-SEPOLIA:ETH-SEPOLIA': '9ad91eb5-e152-5d81-b60e-151d5fd2b3d3',
  'MATIC-AMOY:POL-AMOY': '0c8f8485-f74f-5e28-80f2-3cc4e80ef71c',
}

const chainIds: Record<string, number> = {
  ETH: 1,
  'ETH-SEPOLIA': 11155111,
  OP: 10,
  'OP-SEPOLIA': 11155420,
  UNI: 130,
  'UNI-SEPOLIA': 1301,
  MATIC: 137,
  'MATIC-AMOY': 80002,
  BASE: 8453,
  'BASE-SEPOLIA': 84532,
  ARB: 42161,
  'ARB-SEPOLIA': 421614,
  AVAX: 43114,
  'AVAX-FUJI': 43113,
  MONAD: 143,
  'MONAD-TESTNET': 10143,
  LINEA: 59144,
  'LINEA-SEPOLIA': 59141,
  ZKS: 324,
  'ZKS-SEPOLIA': 300,
  APTOS: 1,
  'APTOS-TESTNET': 2,
  SOL: 101,
  'SOL-DEVNET': 103,
  ARC: 5042,
  'ARC-TESTNET': 5_042_002,
}

function uuidV5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

describe('networks', () => {
  test('are one file each or one row of EVM, every file listed, with the official chain ids', () => {
    const others = /^(index|without-node|evm-network|further-evm|own-networks|row-fields)\./
    const files = readdirSync(import.meta.dirname).filter((f) => f.endsWith('.ts') && !others.test(f))
    const rows: readonly string[] = furtherEvm.map(({ blockchain }) => blockchain)
    const ofFiles = networks.filter(({ blockchain }) => !rows.includes(blockchain))
    expect(files.filter((f) => !f.includes('.test.')).sort()).toEqual(
      ofFiles.map((n) => `${n.blockchain.toLowerCase()}.ts`).sort(),
    )
    expect(Object.fromEntries(ofFiles.map((n) => [n.blockchain, n.chainId]))).toEqual(chainIds)
  })

  test.each(networks)('$blockchain has the ids clients know, and computed ones otherwise', (network) => {
    for (const token of [network.nativeToken, ...stablecoinsOf(network)]) {
      const name = tokenIdName(network.blockchain, token.symbol)
      expect([name, token.id]).toEqual([name, wellKnownIds[name] ?? uuidV5(tokenIdNamespace, name)])
    }
  })

  test.each(networks)(
    '$blockchain agrees with its name and holds addresses as their issuer writes them',
    (network) => {
      const isTest = /-(SEPOLIA|FUJI|AMOY|TESTNET|DEVNET|APOTHEM)$/.test(network.blockchain)
      expect(network.environment).toBe(isTest ? 'TEST' : 'LIVE')
      expect(networkOf(network.blockchain)).toBe(network)
      expect(networkOfBusinessChain(network.businessChain, network.environment)).toBe(network)
      for (const token of stablecoinsOf(network))
        expect(token.address).toBe(network.family === 'evm' ? getAddress(token.address) : tokenAddress(token))
      const symbols = stablecoinsOf(network).map((token) => token.symbol)
      if (network.environment === 'TEST') expect(symbols).toEqual(['USDC', 'EURC'])
      else
        expect(network.tokens.some((token) => token.localOnly || token.address === localEurcAddress)).toBe(
          false,
        )
    },
  )

  test('no token id is used twice', () => {
    const ids = networks.flatMap((n) => [n.nativeToken.id, ...n.tokens.map((t) => t.id)])
    expect(new Set(ids).size).toBe(ids.length)
  })
})

test('the documents count the chains as they are', () => {
  const local = networks.filter(({ environment, family }) => environment === 'TEST' && family === 'evm')
  const ofWallets = local.filter(({ blockchain }) =>
    (walletBlockchains as readonly string[]).includes(blockchain),
  )
  const started = local.filter(({ startsWhenNamed }) => !startsWhenNamed)
  expect([local.length, started.length, ofWallets.length]).toEqual([26, 10, 24])
  const textOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ')
  expect(textOf('README.md')).toContain('ten local EVM chains')
  expect(textOf('README.md')).toContain('sixteen further ones by name')
  expect(textOf('docs/what-works.md')).toContain('wallets on twenty-four EVM chains')
})

describe('blockchains', () => {
  test('names, families and environments', () => {
    expect(walletBlockchains).toHaveLength(26 + furtherEvm.length)
    expect(blockchains.filter((b) => !(walletBlockchains as readonly string[]).includes(b))).toEqual([
      'LINEA',
      'LINEA-SEPOLIA',
      'ZKS',
      'ZKS-SEPOLIA',
    ])
    expect(blockchains.filter((b) => environmentOf(b) === 'LIVE')).toHaveLength(15 + furtherEvm.length / 2)
    expect(familyOf('SOL-DEVNET')).toBe('solana')
    expect(familyOf('APTOS')).toBe('aptos')
    expect(familyOf('NEAR-TESTNET')).toBe('near')
    expect(familyOf('MONAD-TESTNET')).toBe('evm')
    expect(blockchains.filter(isVirtual)).toEqual(['EVM', 'EVM-TESTNET'])
    for (const wrong of ['base-sepolia', 'POLY', '', 'constructor', 7, null])
      expect(isBlockchain(wrong)).toBe(false)
    expect(isBlockchain('BASE-SEPOLIA')).toBe(true)
  })
})
