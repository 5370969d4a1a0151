import { topics } from '#api/index'
import { notificationTypes } from '#engines/webhooks/index'
import { listTriggers } from '#sandbox/triggers/trigger'
import type { Rule } from './repository.ts'

export const triggeredTopicsRule: Rule = {
  name: 'every topic of notifications can be triggered',
  why: 'Whoever writes a receiver makes each message happen with bezant trigger; a topic that has no fixture is listed with the reason.',
  check: () => {
    const { events, notCovered } = listTriggers({ chains: [] } as never)
    const caused = new Set(events.flatMap((event) => event.topics))
    const excused = notCovered.map(({ topic }) => topic)
    const isExcused = (topic: string) =>
      excused.some((each) => topic === each || topic.startsWith(`${each}.`))
    const v1 = Object.values(topics).flatMap((topic) => (topic.line === 'v1' ? [topic.name] : []))
    const all = [...v1, ...notificationTypes.filter((type) => !type.includes('*'))]
    return [
      ...all
        .filter((topic) => !caused.has(topic) && !isExcused(topic))
        .map((topic) => `${topic} has neither a fixture in src/sandbox/triggers nor a reason`),
      ...all
        .filter((topic) => caused.has(topic) && isExcused(topic))
        .map((topic) => `${topic} has a fixture, and a reason why it has none`),
      ...[...caused].filter((topic) => !all.includes(topic)).map((topic) => `no topic is named ${topic}`),
    ]
  },
}
