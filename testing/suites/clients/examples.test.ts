import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '#testing/processes/command'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { documentedCalls } from '#testing/requests/documented-answers'
import { drawnTests } from '#testing/runner/drawn'
import { root } from '#testing/runner/root'
import { isDeep } from '#testing/runner/size'

const run = promisify(execFile)
let dataDir: string
let program: Program

beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA'] })
})
afterAll(async () => {
  program?.signal('SIGTERM', 'process')
  await program?.exited
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

function node(args: string[], { answer } = program, input = '') {
  const env = { ...process.env, BEZANT_URL: answer.url }
  const running = run(process.execPath, args, { cwd: root, env })
  running.child.stdin!.end(input)
  return running
}

/** Runs an example against a sandbox of the chains that its head names. */
async function example(name: string, sandbox = program, input = '') {
  const [, chains] = /npm start -- --chains (\S+)/.exec(await readFile(join(root, 'examples', name), 'utf8'))!
  expect(sandbox.answer.chains.map(({ blockchain }) => blockchain)).toEqual(chains!.split(','))
  return (await node([`examples/${name}`], sandbox, input)).stdout
}

const refused = (args: string[]) =>
  node(args).then(
    () => expect.unreachable('it was not refused'),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )

/** One example of each product at the usual size. */
const businessExample = drawnTests(1, 6)
const walletsExample = drawnTests(1, 12)

describe('the examples run against a sandbox with the chains that they name', () => {
  walletsExample(
    'developer-wallets: secret, wallets on two chains, faucet, transfer to COMPLETE, pages',
    async () => {
      const both = await initializedDirectory()
      const sandbox = await startProgram({ dataDir: both, args: ['--chains', 'BASE-SEPOLIA,ETH-SEPOLIA'] })
      try {
        expect(await example('developer-wallets.mjs', sandbox)).toMatch(
          /is COMPLETE in 0x[\s\S]*the payee holds 1\.25 USDC[\s\S]*one to a page/,
        )
      } finally {
        sandbox.signal('SIGTERM', 'process')
        await sandbox.exited
        await rm(both, { recursive: true, force: true, maxRetries: 5 })
      }
    },
  )

  walletsExample(
    'aptos-wallets: an estimate, a transfer, a batch, and the same answers of the simulated node',
    async () => {
      const own = await initializedDirectory()
      const sandbox = await startProgram({ dataDir: own, args: ['--chains', 'APTOS-TESTNET'] })
      try {
        expect(await example('aptos-wallets.mjs', sandbox)).toMatch(
          /is simulated by the sandbox\n[\s\S]*octas: 0\.\d+ APT\n[\s\S]*is COMPLETE in 0x[0-9a-f]{64} for 0\.\d+ APT\n[\s\S]*received 1\.25 USDC[\s\S]*the payee 3\.25 USDC\nthe node says the same, at ledger version \d+/,
        )
      } finally {
        sandbox.signal('SIGTERM', 'process')
        await sandbox.exited
        await rm(own, { recursive: true, force: true, maxRetries: 5 })
      }
    },
  )

  walletsExample(
    'solana-wallets: an estimate with rent, transfers, and the same answers of the node',
    async () => {
      const own = await initializedDirectory()
      const sandbox = await startProgram({ dataDir: own, args: ['--chains', 'SOL-DEVNET'] })
      try {
        expect(await example('solana-wallets.mjs', sandbox)).toMatch(
          /micro-lamports: 0\.00204\d+ SOL\n[\s\S]*is COMPLETE in \w{80,90} for 0\.00000\d+ SOL\nthe payee received[\s\S]*\nthe node says the same, at slot \d+/,
        )
      } finally {
        sandbox.signal('SIGTERM', 'process')
        await sandbox.exited
        await rm(own, { recursive: true, force: true, maxRetries: 5 })
      }
    },
  )

  walletsExample('unified-balance: deposits on two chains, a spend on a third one', async () => {
    const three = await initializedDirectory()
    const chains = 'AVAX-FUJI,BASE-SEPOLIA,OP-SEPOLIA'
    const sandbox = await startProgram({ dataDir: three, args: ['--chains', chains] })
    try {
      expect(await example('unified-balance.mjs', sandbox)).toMatch(
        /has 20 USDC on two chains\n15 USDC are minted on OP-SEPOLIA by 0x[0-9a-f]{64}\n4\.9\d+ USDC are left/,
      )
    } finally {
      sandbox.signal('SIGTERM', 'process')
      await sandbox.exited
      await rm(three, { recursive: true, force: true, maxRetries: 5 })
    }
  })

  walletsExample('bridge-stablecoins: fast, slowly and delivered, between two chains', async () => {
    const two = await initializedDirectory()
    const sandbox = await startProgram({ dataDir: two, args: ['--chains', 'AVAX-FUJI,BASE-SEPOLIA'] })
    try {
      expect(await example('bridge-stablecoins.mjs', sandbox)).toMatch(
        /has 20 on BASE-SEPOLIA, 20 on AVAX-FUJI\n5 USDC fast: 15 on BASE-SEPOLIA, 24\.9995 on AVAX-FUJI\n5 USDC slowly: 20 on BASE-SEPOLIA, 19\.9995 on AVAX-FUJI\n5 USDC delivered: 15 on BASE-SEPOLIA, 24\.7995 on AVAX-FUJI/,
      )
    } finally {
      sandbox.signal('SIGTERM', 'process')
      await sandbox.exited
      await rm(two, { recursive: true, force: true, maxRetries: 5 })
    }
  })

  businessExample(
    'accept-payment: intent, an on-chain payment from an outside key, the payment in the list',
    async () => {
      expect(await example('accept-payment.mjs')).toMatch(/waits at 0x[\s\S]*12\.34 USD is paid/)
    },
  )

  businessExample('receive-notifications: subscription, its handshake, a signed notification', async () => {
    expect(await example('receive-notifications.mjs')).toMatch(/is confirmed in 2 regions[\s\S]*is active/)
  })

  walletsExample(
    'receive-webhooks: subscription, its test message, a notification with two signatures',
    async () => {
      expect(await example('receive-webhooks.mjs')).toMatch(
        /answered the webhooks\.test\n[\s\S]*transactions\.inbound: 20 USDC are COMPLETE/,
      )
    },
  )

  walletsExample(
    'monitor-contract: an imported contract, a monitored event, its decoded log, a query',
    async () => {
      expect(await example('monitor-contract.mjs')).toMatch(
        /functions and \d+ events\n[\s\S]*Transfer of 20000000 base units[\s\S]*holds 20000000, and the monitor lags \d/,
      )
    },
  )

  walletsExample(
    'mint-nfts: a collection from a template, a mint, a transfer of NFTs, the lists of both wallets',
    async () => {
      expect(await example('mint-nfts.mjs')).toMatch(
        /deployed at 0x[\s\S]*has 10 of print 0, described at ipfs:\/\/print\n[\s\S]*keeps 7 and the collector has 3/,
      )
    },
  )

  walletsExample(
    'smart-accounts: a first transfer that deploys the account, ten more at once, a signature for its contract',
    async () => {
      expect(await example('smart-accounts.mjs')).toMatch(
        /has 0 bytes of code\n[\s\S]*has \d{2,} bytes of code\n[\s\S]*COMPLETE in \d transactions[\s\S]*holds 14 USDC and 0 wei\n[\s\S]*accepts its signature/,
      )
    },
  )

  walletsExample(
    'modular-wallets: a first operation that deploys the account, ten more at once, what the API tells of them',
    async () => {
      expect(await example('modular-wallets.mjs')).toMatch(
        /is deployed: false\n[\s\S]*succeeds: true; deployed: true\n[\s\S]*ten more succeed: true, in \d[\s\S]*lists 11 operations[\s\S]*holds 14 USDC and 0 wei/,
      )
    },
  )

  walletsExample(
    'approve-in-terminal: a PIN, a wallet, a payment after one wrong PIN, a signature',
    async () => {
      const typed = ['258014', 'Bruno', 'Paris', '999000', '258014', '258014', '']
      expect(await example('approve-in-terminal.mjs', program, typed.join('\n'))).toMatch(
        /INITIALIZE\n[\s\S]*the wallet is 0x[\s\S]*Amount: 1\.25 USDC\n[\s\S]*PIN is wrong[\s\S]*payment is COMPLETE\n[\s\S]*Message: hello\n[\s\S]*signature is 0x/,
      )
    },
  )

  walletsExample(
    'control-transactions: an estimate, a contract call, a signature, an acceleration and a cancellation',
    async () => {
      expect(await example('control-transactions.mjs')).toMatch(
        /gas\n[\s\S]*is COMPLETE\n[\s\S]*that of the wallet\n[\s\S]*was accelerated and is COMPLETE\n[\s\S]*is CANCELLED/,
      )
    },
  )

  businessExample('undo-a-payment: a payment, a reorg that removes it, and the payment again', async () => {
    expect(await example('undo-a-payment.mjs')).toMatch(/is paid\n[\s\S]*is pending\n[\s\S]*is paid/)
  })

  walletsExample(
    'lab-tour: a timeline, a fault, a reorg, a snapshot, three days, a webhook sent again',
    async () => {
      expect(await example('lab-tour.mjs')).toMatch(
        /INITIATED, [\s\S]*COMPLETE\nsaved\nmet answer-lost[\s\S]*has 30 USDC\n[\s\S]*COMPLETE, [\s\S]*COMPLETE\nrestored: [\s\S]*404, [\s\S]*has 10 USDC\n[\s\S]*has expired[\s\S]*replayed: \d/,
      )
    },
  )

  businessExample('x402-seller: a paid API, and a client that buys from it', async () => {
    expect(await example('x402-seller.mjs')).toMatch(
      /holds 20 USDC, and no gas\n[\s\S]*answers 402\n[\s\S]*answers 200: it will be sunny\nthe seller has 0\.1 USDC by 0x/,
    )
  })

  businessExample('agent-buys: a key with a budget, and the tools of an agent that spends it', async () => {
    expect(await example('agent-buys.mjs')).toMatch(
      /has 15 tools\nMonday: it will be sunny, for 0\.1 USDC\nTuesday: .*\nWednesday: refused: Denied by the policy of the API key/,
    )
  })

  businessExample(
    'pay-out: intent, payment, balance, recipient, payout, its receipt on chain, notifications of each, no gaps',
    async () => {
      expect(await example('pay-out.mjs')).toMatch(
        /is complete in 0x[\s\S]*the recipient holds 40\.00 USDC on chain/,
      )
      const { stdout } = await runCommand({
        dataDir,
        command: 'reconcile',
        args: ['--chain', 'BASE-SEPOLIA'],
      })
      expect(stdout).toMatch(
        /\n {2}TOKEN +ON CHAIN +BOOKS +GAP\n( {2}[A-Z-]+ +[\d.]+ +[\d.]+ +0\n)+[\s\S]*zero gaps/,
      )
    },
  )
})

/** Runs the commands of a document against the sandbox: with its address, and values in place of `…`. */
async function runCommands(commands: string): Promise<string> {
  const { url, apiKey } = program.answer
  const call = async (path: string, body?: object): Promise<Record<string, never>> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return ((await answer.json()) as { data: Record<string, never> }).data
  }
  const keyed = async () => ({ idempotencyKey: randomUUID(), ...(await call('/sandbox/ciphertext')) })
  const { walletSet } = await call('/v1/w3s/developer/walletSets', { ...(await keyed()), name: 'Documents' })
  const values: Record<string, string> = { ...(await keyed()), walletSetId: walletSet!['id'] }
  const filled = commands
    .replaceAll('http://127.0.0.1:4020', url)
    .replace(/"(\w+)": "…"/g, (_, name: string) => `"${name}": "${values[name]}"`)
    // The sandbox has one chain.
    .replace('"BASE-SEPOLIA", "MATIC-AMOY"', '"BASE-SEPOLIA"')
  // The payment may take longer than the second that a document waits, and examples before it were paid too.
  const paid = `paid() { curl -s "$API/v1/payments" -H "Authorization: Bearer $KEY" | grep -o '"paid"' | wc -l; }`
  const sleep = `before=$(paid); sleep() { until [ "$(paid)" -gt "$before" ]; do command sleep 0.1; done; }`
  const set = `API=${url} KEY=${apiKey}`
  return (await run('bash', ['-e', '-c', `${set}\n${paid}\n${sleep}\n${filled}`])).stdout
}

describe('the answers that documents show', () => {
  it.each([
    ['docs/accept-a-payment.md', 2],
    ['docs/wallets-for-users.md', 1],
    ['docs/sandbox.md', 1],
    ['docs/smart-accounts.md', 1],
  ])('property 154: are those of the curl commands before them, in %s', async (document, count) => {
    const calls = documentedCalls(document)
    expect(calls).toHaveLength(count)
    for (const { commands, answer } of calls) expect(JSON.parse(await runCommands(commands))).toEqual(answer)
  })
})

describe('an example ends with one line that gives the reason when it is refused', () => {
  const call = (client: string) => [
    '--input-type=module',
    '--eval',
    `import { findSandbox } from './examples/sandbox.mjs'
    const { url, apiKey, entitySecret } = await findSandbox()
    ${client}`,
  ]

  it('by a sandbox without the chain', async () => {
    const line = 'The sandbox runs without ETH-SEPOLIA: start it with that in --chains.\n'
    expect(await refused(['examples/developer-wallets.mjs'])).toEqual({ code: 1, stdout: '', stderr: line })
  })

  it('by Node, without the client library', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bezant-examples-'))
    await cp(join(root, 'examples'), folder, { recursive: true })
    await mkdir(join(folder, 'node_modules'))
    await symlink(join(root, 'node_modules/viem'), join(folder, 'node_modules/viem'))
    const names = (await readdir(folder)).filter((name) => /^(?!sandbox).*mjs$/.test(name))
    expect(names).toHaveLength(19)
    // One of each client.
    const tried = isDeep ? names : ['developer-wallets.mjs', 'accept-payment.mjs']
    const ends = await Promise.all(tried.map((name) => refused([join(folder, name)])))
    for (const { code, stdout, stderr } of ends) {
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(
        /^This example needs (@(?:circle-fin|x402)\/\S+), which is not installed: npm install \1\n$/,
      )
    }
  })

  it('by the wallets', async () => {
    const { code, stderr } = await refused(
      call(`import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
        const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
        await client.getWallet({ id: crypto.randomUUID() })`),
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/^GET http:\S+\/v1\/w3s\/wallets\/\S+ was refused with 404, code 156001: .+\n$/)
  })

  it('by the business account', async () => {
    const { code, stderr } = await refused(
      call(`import { Circle } from '@circle-fin/circle-sdk'
        await new Circle(apiKey, url).payouts.getPayout(crypto.randomUUID())`),
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/^GET http:\S+\/v1\/payouts\/\S+ was refused with 404, code \d+: .+\n$/)
  })
})
