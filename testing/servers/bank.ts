/** A bank as an operator connects it: it checks each order's signature and its time, keeps the order, and signs results. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { BankRailSetting } from '#runtime/bank-rail-setting'

const secret = 'the secret of the bank, of more than 32 characters'

/** An order as the bank got it. */
// biome-ignore lint/suspicious/noExplicitAny: orders differ by their type
type TakenOrder = any

export type TestBank = {
  setting: BankRailSetting
  orders: TakenOrder[]
  /** The status of the answers from now on. */
  answer(status: number): void
  /** Reports a result to a server; `changes` are those of a message that is wrong. */
  report(
    url: string,
    result: object,
    changes?: { secret?: string; seconds?: number; direction?: string; header?: string },
  ): Promise<{ status: number; code?: number; message?: string }>
  close(): void
}

const macOf = (key: string, direction: string, seconds: number, body: Uint8Array) =>
  createHmac('sha256', key).update(`${direction}.${seconds}.`).update(body).digest('hex')

/** Opens a bank that takes coins of a chain at an address. */
export async function openBank(blockchain: string, address: string): Promise<TestBank> {
  const orders: TakenOrder[] = []
  let status = 204
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const [, time = '', mac = ''] =
      /^t=(\d+),v1=(.*)$/.exec(String(request.headers['bezant-bank-signature'])) ?? []
    const isOld = Math.abs(Date.now() / 1000 - Number(time)) > 300
    if (isOld || mac !== macOf(secret, 'order', Number(time), body)) return void response.writeHead(401).end()
    orders.push(JSON.parse(body.toString()))
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`
  const beneficiaryBank = { accountNumber: '987654321', routingNumber: '121000248' }
  const instructions = { beneficiary: { name: 'Operator' }, beneficiaryBank }
  return {
    setting: { url, secret, blockchain, address, instructions },
    orders,
    answer: (next) => {
      status = next
    },
    report: async (to, result, changes = {}) => {
      const { seconds = Math.floor(Date.now() / 1000), direction = 'result' } = changes
      const body = JSON.stringify(result)
      const mac = macOf(changes.secret ?? secret, direction, seconds, Buffer.from(body))
      const header = changes.header ?? `t=${seconds},v1=${mac}`
      const response = await fetch(`${to}/bank/results`, {
        method: 'POST',
        headers: { 'Bezant-Bank-Signature': header, 'Content-Type': 'application/json' },
        body,
      })
      const text = await response.text()
      return { status: response.status, ...(text && JSON.parse(text)) }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
