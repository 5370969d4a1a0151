import fastify from 'fastify'
import * as drawing from 'qr'
import { expect, it, vi } from 'vitest'
import { testLog } from '#testing/platform/log'
import { registerPaymentPages } from './payment-page.ts'

vi.mock('qr', { spy: true })

it('draws each code of an answer once, however often it is asked for', async () => {
  const server = fastify()
  const methodOn = (chain: string) => ({ chain, address: `0x${chain}`, paymentUri: `ethereum:${chain}` })
  const answerOnce = () => ({ paymentMethods: [methodOn('ETH'), methodOn('BASE')] }) as never
  let answer = answerOnce()
  registerPaymentPages(server, { read: async () => answer, log: testLog() })
  const code = async (query: string) => (await server.inject(`/pay/token/code.svg${query}`)).body
  const draws = vi.mocked(drawing.encodeQR).mock.calls
  const first = await code('?chain=ETH')
  expect(first).toContain('<svg')
  expect(await code('?chain=ETH')).toBe(first)
  expect(draws).toHaveLength(1)
  for (const query of ['?chain=ETH&of=payment', '?chain=BASE', '?chain=BASE', '?chain=unknown'])
    await code(query)
  expect(draws).toHaveLength(3)
  answer = answerOnce()
  await code('?chain=ETH')
  expect(draws).toHaveLength(4)
  await server.close()
})
