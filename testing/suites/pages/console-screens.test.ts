/** The screens of the console with rows that real operations made, their acts, and what they save. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { encodeFunctionData, getAddress, recoverMessageAddress, recoverTypedDataAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { networks } from '#chains/networks/index'
import { crosschainMessages, type Hex } from '#testing/builders/burns'
import { makeLockedUser } from '#testing/builders/locked-users'
import { sandboxChain } from '#testing/builders/sandbox-chains'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  unifiedBalances,
  wallet as walletContract,
  word,
} from '#testing/builders/unified-balances'
import { chromiumPath } from '#testing/pages/browser'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'
import type { Harness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import type { Program } from '#testing/processes/program'
import { publicDomainOf } from '../../../console/src/format/chains.ts'

const blockchain = 'BASE-SEPOLIA'
const usdc = networks
  .find((network) => network.blockchain === blockchain)!
  .tokens.find(({ symbol }) => symbol === 'USDC')!
let sandbox: ConsoleSandbox
let program: Program
let made: Awaited<ReturnType<typeof makeAll>>

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox(`${blockchain},AVAX-FUJI`)
  program = sandbox.program
  made = await makeAll()
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

const inChromium = it.runIf(chromiumPath)

const console = (options: Parameters<ConsoleSandbox['open']>[0] = {}) => sandbox.open(options)
const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await program.tenant.http(method, path, { body })
  expect(status, text).toBeLessThan(300)
  return answer.data
}

/** Makes an event happen, and returns the ids of what it made by their kinds. */
async function trigger(event: string): Promise<Record<string, string>> {
  const { made: resources } = await call('POST', '/sandbox/triggers', { event })
  return Object.fromEntries(resources.map(({ kind, id }: { kind: string; id: string }) => [kind, id]))
}

/** An address that the blocklist names. */
const blocked = `0x${'b'.repeat(40)}`

async function done(command: string, ...args: string[]) {
  const { code, stderr } = await runCommand({ command, dataDir: sandbox.dataDir, args })
  expect(code, stderr).toBe(0)
}

/** Coins that are burned for a wallet, a transfer of a unified balance to it, and a deposit in its name. */
async function makeCrosschain(address: string) {
  const base = sandboxChain(program, blockchain)
  const avalanche = sandboxChain(program, 'AVAX-FUJI')
  const harness = { http: program.tenant.http } as unknown as Harness
  const messages = crosschainMessages(harness)
  const burn = await messages.burn(avalanche, base, { to: address as Hex, amount: 2_500_000n })
  await messages.attested(avalanche, burn)
  const unified = unifiedBalances(harness)
  const payer = people[0]!
  await unified.fund(avalanche, payer.address, 20_000_000n, '20')
  const spec = specOf(avalanche, base, payer.address, {
    value: 4_000_000n,
    destinationRecipient: word(address),
  })
  const { body, status, text } = await unified.transfer([await signedIntent(payer, intentOf(spec))])
  expect(status, text).toBe(201)
  const { USDC } = avalanche.tokens
  const value = 3_000_000n
  await avalanche.send(payer.address, value, 'USDC')
  const approve = encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'approve',
    args: [walletContract, value],
  })
  await unified.send(avalanche, payer.address, USDC, approve)
  await unified.callWallet(avalanche, payer.address, 'depositFor', [USDC, address, value])
  await unified.shows(avalanche, address, '3')
  return { burn, transferId: body.transferId as string }
}

async function makeAll() {
  const [transaction, logged, operation, locked] = await Promise.all([
    trigger('transaction.complete'),
    trigger('contract.eventLog'),
    trigger('modularWallet.userOperation'),
    makeLockedUser(program.tenant.http, blockchain),
    trigger('challenge.createTransaction'),
  ])
  await done('screening', 'add', blocked, '--chain', 'ETH', '--list', 'block', '--reason', 'stolen card')
  const { wallet } = await call('GET', `/v1/w3s/wallets/${transaction['wallet']}`)
  const { users } = await call('GET', '/v1/w3s/users?pageSize=50')
  return {
    wallet: wallet as { id: string; address: Hex },
    ...(await makeCrosschain(wallet.address)),
    monitorId: logged['eventMonitor']!,
    loggedWalletId: logged['wallet']!,
    operationId: operation['userOperation']!,
    locked,
    userId: users
      .map(({ id }: { id: string }) => id)
      .find((id: string) => id.startsWith('trigger-')) as string,
  }
}

/** The field of a dialog by its title. */
const field = (page: Page, title: string) =>
  page
    .locator('dialog label', {
      has: page.locator('span', { hasText: new RegExp(`^${title}( ?optional)?$`) }),
    })
    .locator('input, textarea, select')

/** Opens the dialog of an act, fills it in, and submits it. */
async function act(page: Page, title: string, values: Record<string, string>) {
  await page.click(`.act button:text-is("${title}")`)
  // Choices that the server gives are there once the form can be submitted.
  await page.locator('dialog button[type=submit]:enabled').waitFor()
  for (const [name, value] of Object.entries(values)) {
    const input = field(page, name)
    if ((await input.evaluate((element) => element.tagName)) === 'SELECT')
      await input.selectOption({ label: await labelIn(page, name, value) })
    else await input.fill(value)
  }
  await page.click('dialog button[type=submit]')
}

/** The label of the option that begins with a text: wallets are named with their chain. */
async function labelIn(page: Page, name: string, beginning: string): Promise<string> {
  const labels = await field(page, name).locator('option').allTextContents()
  return labels.find((label) => label.startsWith(beginning)) ?? beginning
}

const stateOf = async (id: string): Promise<string> =>
  (await call('GET', `/v1/w3s/transactions/${id}`)).transaction.state
const idIn = (page: Page) => page.url().split('/').at(-1)!

describe('screens of the console', () => {
  it('know the domains of the networks of this server', () => {
    const known = networks.map(({ blockchain: name, domain }) => [name, domain])
    expect(networks.map(({ blockchain: name }) => [name, publicDomainOf(name)])).toEqual(known)
  })

  inChromium('show what real operations made, on each page of a list and of a resource', async () => {
    const { page, open, shows } = await console()
    const openFirst = async (path: string, ...texts: string[]) => {
      await open(path)
      await page.click('a[data-row] >> nth=0')
      await page.waitForURL(`**/console${path}/**`)
      for (const text of texts) await shows(text)
    }
    await openFirst('/messages', 'Messages of the transaction', '2.5', 'AVAX', 'complete', 'BASE, domain 6')
    await openFirst('/unified-transfers', 'Unified transfer', 'BASE, domain 6', 'Burn intents')
    await open('/unified-balances')
    await shows('3.000000')
    await shows('AVAX-FUJI')
    await open(`/unified-balances?depositor=${people[0]!.address}`)
    await shows('AVAX-FUJI')
    await open('/attesters')
    await page.waitForSelector('tbody tr')
    await openFirst('/modular-wallets', 'COMPLETE')
    await page.waitForSelector(`main a[data-row][href$="${made.operationId}"]`)
    await openFirst('/event-monitors', 'Transfer(address,address,uint256)', 'following', 'value ')
    await openFirst('/contracts', 'Monitors', 'following', 'value ')
    await open(`/users/${made.userId}`)
    for (const text of ['Initialize', 'Create transaction', 'COMPLETE', blockchain]) await shows(text)
    await open(`/users/${made.locked}`)
    for (const text of ['LOCKED', 'PIN: wrong entries', 'PIN: lock ends', 'Change pin', 'PENDING'])
      await shows(text)
    await openFirst('/policy', 'Versions', 'in force')
    await openFirst('/screening-lists', 'Your blocklist', 'Versions', 'add · stolen card')
    await open('/audit?action=wallet.created')
    await shows('wallet.created')
    await openFirst('/accounts', 'Posted', 'Entries')
    await openFirst('/keys', 'Scopes', 'Requests')
  })

  for (const [name, options] of Object.entries({
    'in light': {},
    'in dark, on a phone': { colorScheme: 'dark', width: 390, height: 844 },
  } as const))
    inChromium(`hinder nobody ${name}`, async () => {
      const { page, open, hindrances } = await console(options)
      const [message] = await call('GET', '/operator/movements?kind=message')
      for (const path of [
        '/modular-wallets',
        '/event-monitors',
        '/sweeps',
        '/messages',
        '/unified-balances',
        '/unified-transfers',
        '/attesters',
        '/screening-lists',
        '/screening-lists/block',
        '/audit',
        `/messages/${message.id}`,
        `/unified-transfers/${made.transferId}`,
        `/event-monitors/${made.monitorId}`,
        `/users/${made.locked}`,
      ]) {
        await open(path)
        expect(await hindrances(), path).toEqual([])
        const isList = path.lastIndexOf('/') === 0
        expect(await page.locator('.act button:text-is("CSV")').count(), path).toBe(isList ? 1 : 0)
        const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
        expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
      }
    })
})

describe('acts of the console', () => {
  inChromium('property 204: unlock the PIN of a user, log the user out, disable and enable', async () => {
    const { page, open, shows } = await console()
    const userOf = async () => (await call('GET', `/v1/w3s/users/${made.locked}`)).user
    await open(`/users/${made.locked}`)
    await act(page, 'Unlock the PIN', {})
    await shows('PIN: lock ended early')
    expect(await userOf()).toMatchObject({ pinStatus: 'ENABLED', pinDetails: { failedAttempts: 0 } })
    await act(page, 'Log out', {})
    await shows('The user is logged out.')
    await act(page, 'Disable', {})
    await shows('DISABLED')
    expect((await userOf()).status).toBe('DISABLED')
    await act(page, 'Enable', {})
    await until(async () => (await userOf()).status === 'ENABLED', 'the user is enabled')
  })

  inChromium('deploy a template, call and query it, and follow an event of it', async () => {
    const { page, open, shows } = await console()
    const { address, id } = made.wallet
    await open('/contracts')
    await act(page, 'Deploy a template', {
      Template: 'ERC-20',
      Name: 'Gold coins',
      'Wallet that deploys and pays': address,
      'Name of the token': 'Gold',
      Administrator: address,
      'Recipient of first sales': address,
    })
    await page.waitForURL('**/console/contracts/*')
    const contractId = idIn(page)
    await page.waitForSelector('.head .status:has-text("COMPLETE")')
    const { contract } = await call('GET', `/v1/w3s/contracts/${contractId}`)
    expect(contract).toMatchObject({
      contractInputType: 'TEMPLATE',
      deployerWalletID: id,
      status: 'COMPLETE',
    })
    await act(page, 'Call', {
      Function: 'mintTo(address,uint256)',
      to: address,
      amount: '5',
      Wallet: address,
    })
    await page.waitForURL('**/console/movements/*')
    const callId = idIn(page)
    await until(async () => (await stateOf(callId)) === 'COMPLETE', 'the call is complete')
    const { outputValues } = await call('POST', '/v1/w3s/contracts/query', {
      address: contract.contractAddress,
      blockchain,
      abiFunctionSignature: 'balanceOf(address)',
      abiParameters: [address],
    })
    expect(outputValues).toEqual(['5'])
    await open(`/contracts/${contractId}`)
    await act(page, 'Query', { Function: 'balanceOf(address)', account: address })
    await page.waitForSelector('dialog pre:has-text("5")')
    await page.click('dialog button:has-text("Done")')
    await act(page, 'Follow an event', { Event: 'Transfer(address,address,uint256)', 'From block': '0' })
    await shows('The event is followed from now on.')
    const { eventMonitors } = await call(
      'GET',
      `/v1/w3s/contracts/monitors?contractAddress=${contract.contractAddress}`,
    )
    expect(eventMonitors).toMatchObject([{ isEnabled: true }])
    await page.click(`a[data-row][href$="${eventMonitors[0].id}"]`)
    await shows('value 5')
    await act(page, 'Disable', {})
    await shows('The event is not followed any more.')
    const [disabled] = (
      await call('GET', `/v1/w3s/contracts/monitors?contractAddress=${contract.contractAddress}`)
    ).eventMonitors
    expect(disabled.isEnabled).toBe(false)
  })

  inChromium('deploy bytecode, import a contract with its ABI, and name what is wrong', async () => {
    const { page, open, shows } = await console()
    const output = { name: '', type: 'uint256' }
    const abiJson = JSON.stringify([
      { type: 'function', name: 'answer', stateMutability: 'view', inputs: [], outputs: [output] },
    ])
    await open('/contracts')
    await act(page, 'Deploy', {
      Name: 'Answer',
      'Wallet that deploys and pays': made.wallet.address,
      ABI: abiJson,
      // Returns 42 whatever it is asked.
      Bytecode: '0x69602a60005260206000f3600052600a6016f3',
    })
    await page.waitForURL('**/console/contracts/*')
    await page.waitForSelector('.head .status:has-text("COMPLETE")')
    await act(page, 'Query', { Function: 'answer()' })
    await page.waitForSelector('dialog pre:has-text("42")')
    const { USDC } = program.answer.chains.find((chain) => chain.blockchain === 'AVAX-FUJI')!.tokens
    await open('/contracts')
    await act(page, 'Import', { Name: 'Coins', Blockchain: 'AVAX-FUJI', Address: '0x12', ABI: abiJson })
    await page.waitForSelector('dialog [role=alert]')
    expect(await field(page, 'Address').getAttribute('aria-invalid')).toBe('true')
    await field(page, 'Address').fill(USDC)
    await page.click('dialog button[type=submit]')
    await page.waitForURL('**/console/contracts/*-*')
    await shows('answer()')
    expect((await call('GET', `/v1/w3s/contracts/${idIn(page)}`)).contract).toMatchObject({
      contractInputType: 'IMPORT',
      blockchain: 'AVAX-FUJI',
      abiJson,
    })
  })

  inChromium('sign messages and typed data, which the address of the wallet did', async () => {
    const { page, open } = await console()
    const { id, address } = made.wallet
    await open(`/wallets/${id}`)
    const signature = async () => {
      const text = (await page.textContent('dialog pre')) ?? ''
      await page.click('dialog button:has-text("Done")')
      return text.trim() as Hex
    }
    await act(page, 'Sign message', { Message: 'I own this address.' })
    const signed = await signature()
    expect(await recoverMessageAddress({ message: 'I own this address.', signature: signed })).toBe(
      getAddress(address),
    )
    const typedData = {
      types: { EIP712Domain: [{ name: 'name', type: 'string' }], Vote: [{ name: 'choice', type: 'string' }] },
      domain: { name: 'Bezant' },
      primaryType: 'Vote',
      message: { choice: 'gold' },
    } as const
    await act(page, 'Sign typed data', { 'Typed data': JSON.stringify(typedData) })
    expect(await recoverTypedDataAddress({ ...typedData, signature: await signature() })).toBe(
      getAddress(address),
    )
  })

  inChromium('screen an address, and approve what screening left to an operator', async () => {
    const { page, open, shows } = await console()
    await open('/screenings')
    const denied = `0x${'1'.repeat(28)}999999999999`
    await act(page, 'Screen an address', { Chain: blockchain, Address: denied })
    await page.waitForURL('**/console/screenings/*')
    await page.waitForSelector('.head .status:has-text("DENIED")')
    const [screening] = await call('GET', `/operator/screenings?chain=${blockchain}&address=${denied}`)
    expect(screening).toMatchObject({ id: idIn(page), result: 'DENIED' })
    const { id } = await call('POST', '/v1/w3s/developer/transactions/transfer', {
      ...(await call('GET', '/sandbox/ciphertext')),
      idempotencyKey: randomUUID(),
      walletId: made.wallet.id,
      tokenId: usdc.id,
      destinationAddress: `0x${'1'.repeat(28)}999999997766`,
      amounts: ['0.25'],
      feeLevel: 'MEDIUM',
    })
    await open('/reviews')
    await page.click(`a[data-row][href$="${id}"]`)
    await act(page, 'Approve', { Reason: 'The customer confirmed the recipient.' })
    await shows('The review is approved.')
    await until(async () => (await stateOf(id)) === 'COMPLETE', 'the approved transfer is complete')
    await page.click('a:has-text("and its timeline")')
    await page.waitForURL(`**/console/movements/${id}`)
  })

  inChromium('look an address up in the lists, and verify the audit trail', async () => {
    const { page, open, shows } = await console()
    await open('/screening-lists')
    for (const [address, found] of [
      [blocked.toUpperCase().replace('0X', '0x'), 'block: your blocklist, since version 1 of 1'],
      [made.wallet.address, 'is on none of'],
    ] as const) {
      await act(page, 'Check an address', { Chain: 'BASE', Address: address })
      await page.waitForSelector(`dialog pre:has-text("${found}")`)
      await page.click('dialog button:has-text("Done")')
    }
    await open('/audit')
    await page.click('.act button:text-is("Verify")')
    await shows('Nothing was altered')
    await shows('each linked to the one before')
  })

  inChromium('tell in what a version of a policy differs from the one before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bezant-policy-'))
    const file = join(folder, 'policy.json')
    await writeFile(file, JSON.stringify({ mode: 'rules', operations: ['transfer'], destinations: 'any' }))
    for (const policy of ['permissive', file])
      await done('policy', 'set', '--wallet', made.loggedWalletId, '--policy', policy)
    await rm(folder, { recursive: true })
    const { open, shows } = await console()
    const [version] = await call('GET', `/operator/policies?subjectId=${made.loggedWalletId}`)
    expect(version).toMatchObject({ version: 2, inForce: true, scope: 'wallet' })
    await open(`/policy/${version.id}`)
    for (const text of ['Policy of the wallet, version 2', 'What changed', 'permissive', 'replaced'])
      await shows(text)
  })

  inChromium('show a message to deliver, and ask for another attestation', async () => {
    const { page, open, shows } = await console()
    const [message] = await call('GET', `/operator/movements?kind=message&txHash=${made.burn}`)
    await open(`/messages/${message.id}`)
    await act(page, 'Attestation', {})
    await page.waitForSelector('dialog pre:has-text("attestation")')
    const shown = JSON.parse((await page.textContent('dialog pre')) ?? '')
    const { body } = await program.tenant.http('GET', `/v2/messages/1?transactionHash=${made.burn}`)
    expect(shown).toEqual({
      message: body.messages[0].message,
      attestation: body.messages[0].attestation,
    })
    await page.click('dialog button:has-text("Done")')
    await act(page, 'Attest again', {})
    // A slow burn is attested without an end at once.
    await shows('The attestation of the message has no end.')
  })
})

describe('what the console saves', () => {
  const saved = async (page: Page) => {
    const button = page.locator('.act button:text-is("CSV")')
    await button.focus()
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
  }

  inChromium(
    'is a table in which no text of a stranger is a formula, and money is a plain decimal',
    async () => {
      const { page, open, shows } = await console()
      const { id } = made.wallet
      const name = '=HYPERLINK("//other.example","x")'
      for (const refId of ['+1+1', '-2', '@SUM(1)', '\t=1', '\r=1']) {
        await call('PUT', `/v1/w3s/wallets/${id}`, { name, refId })
        await open(`/wallets?walletSetId=${await walletSetOf(id)}`)
        await page.waitForSelector('a[data-row]')
        const { name: file, text } = await saved(page)
        expect(file).toMatch(/^wallets-\d{4}-\d\d-\d\d\.csv$/)
        const [headings, line] = text.split('\r\n')
        expect(headings).toBe('Id,Address,Address name,Chain,Account,Custody,Reference,State,Created')
        const shownRef = refId.includes('\r') ? `"'${refId}"` : `'${refId}`
        expect(text).toContain(
          `"'=HYPERLINK(""//other.example"",""x"")",${blockchain},EOA,DEVELOPER,${shownRef},LIVE,`,
        )
        expect(line).toMatch(new RegExp(`^${id},0x`))
      }
      await open(`/transactions?operation=TRANSFER&txType=OUTBOUND`)
      await shows('TRANSFER')
      const { text } = await saved(page)
      expect(text).toMatch(/,-0\.5,/)
      expect(text).not.toMatch(/−/)
      expect(text.split('\r\n')[0]).toBe('Id,Created,Operation,Amount,Amount unit,From,To,Chain,State')
    },
  )
})

const walletSetOf = async (id: string) => (await call('GET', `/v1/w3s/wallets/${id}`)).wallet.walletSetId
