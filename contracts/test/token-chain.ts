import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type Abi,
  type Address,
  createTestClient,
  http,
  numberToHex,
  publicActions,
  walletActions,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { runtimeBytecode, stablecoinStorage } from '#sandbox/artifacts/stablecoin'
import { placedAccountContracts } from '#sandbox/chains/account-contracts'
import { viemChain } from '#testing/platform/viem-chain'

/** Keys made from a number: the accounts of these tests, funded in genesis. */
export const people = {
  owner: key(1n),
  masterMinter: key(2n),
  pauser: key(3n),
  blacklister: key(4n),
  minter: key(5n),
  alice: key(6n),
  bob: key(7n),
  carol: key(8n),
  stranger: key(9n),
}

export const tokenAddress: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
/** The same code with empty storage, for initialisation. */
export const blankAddress: Address = '0x00000000000000000000000000000000000b1a2c'
export const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

export const openingState = {
  name: 'USD Coin',
  symbol: 'USDC',
  currency: 'USD',
  decimals: 6,
  owner: people.owner.address,
  masterMinter: people.masterMinter.address,
  pauser: people.pauser.address,
  blacklister: people.blacklister.address,
  minters: [{ address: people.minter.address, allowance: 1_000_000_000000n }],
  balances: [
    { address: people.alice.address, amount: 1_000_000000n },
    { address: people.minter.address, amount: 500_000000n },
  ],
}

export type TokenChain = Awaited<ReturnType<typeof startTokenChain>>

/** A real node with the token in its genesis block, or with another one; `stop` ends the node and removes its files. */
export async function startTokenChain(genesisFile: object = genesisWith({}), chain = viemChain) {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-contracts-'))
  const genesisPath = join(directory, 'genesis.json')
  writeFileSync(genesisPath, JSON.stringify(genesisFile))
  const node = spawn(
    anvilPath(),
    ['--init', genesisPath, '--port', '0', '--host', '127.0.0.1', '--accounts', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const url = await listeningUrl(node)
  const client = createTestClient({
    mode: 'anvil',
    chain,
    transport: http(url),
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions)
  const stop = async () => {
    const ended = once(node, 'exit')
    node.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  return { client, stop, token: { address: tokenAddress, abi: stablecoinAbi as Abi } }
}

/** The coins of these accounts, as part of a genesis file. */
export const peopleCoins = Object.fromEntries(
  Object.values(people).map(({ address }) => [address, { balance: numberToHex(10n ** 21n) }]),
)

/** The genesis file of `startTokenChain`, with `placed` in addition to the token or in its place. */
export function genesisWith(placed: Record<string, object>) {
  return {
    config: { chainId: viemChain.id },
    nonce: '0x0',
    timestamp: numberToHex(Math.floor(Date.now() / 1000)),
    extraData: '0x',
    gasLimit: numberToHex(30_000_000n),
    difficulty: '0x0',
    mixHash: numberToHex(0, { size: 32 }),
    coinbase: zeroAddress,
    alloc: {
      ...peopleCoins,
      ...placedAccountContracts(),
      [tokenAddress]: { balance: '0x0', code: runtimeBytecode, storage: stablecoinStorage(openingState) },
      [blankAddress]: { balance: '0x0', code: runtimeBytecode },
      ...placed,
    },
  }
}

function anvilPath(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const platform = `@foundry-rs/anvil-${process.platform}-${architecture}`
  return join(
    dirname(createRequire(import.meta.url).resolve(`${platform}/package.json`)),
    'bin',
    `anvil${suffix}`,
  )
}

/** Reads on for as long as the node lives: it logs every call, and stops answering when the pipe is full. */
function listeningUrl(node: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    let found = false
    node.stdout!.on('data', (chunk: Buffer) => {
      if (found) return
      printed += chunk.toString()
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
      if (port === undefined) return
      found = true
      resolve(`http://127.0.0.1:${port}`)
    })
    node.once('error', reject)
    node.once('exit', () => reject(new Error(`The node ended before it listened:\n${printed}`)))
  })
}

function key(number: bigint): PrivateKeyAccount {
  return privateKeyToAccount(numberToHex(0xbe2a4700n + number, { size: 32 }))
}
