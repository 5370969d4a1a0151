import { expect, it } from 'vitest'
import { openSmtpServer } from '#testing/servers/smtp-server'
import { openSmtp } from './smtp.ts'

const mailTo = (to: string) => ({ to, subject: 'Your code', text: 'Your code is 123456.' })

it('property 65: many mails of one tenant keep no mail of another tenant waiting', async () => {
  let takeThem!: () => void
  const taken = new Promise<void>((resolve) => {
    takeThem = resolve
  })
  const smtp = await openSmtpServer(() => taken)
  const mailer = openSmtp(smtp.url, 'login@shop.example')
  try {
    const sent = Array.from({ length: 1_100 }, (_, index) =>
      mailer.send('noisy', mailTo(`user-${index}@noisy.example`)),
    )
    const outcomes = Promise.allSettled(sent)
    const quiet = mailer.send('quiet', mailTo('ada@quiet.example'))
    takeThem()
    await quiet
    const order = smtp.mails.map(({ to }) => to[0])
    expect(order.indexOf('ada@quiet.example')).toBeLessThan(20)
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    expect(refused).not.toEqual([])
    expect(smtp.mails).toHaveLength(1_101 - refused.length)
  } finally {
    mailer.close()
    await smtp.close()
  }
})
