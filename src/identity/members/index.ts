/** Members: the people who sign in to the console, their roles, passwords, one-time codes and sessions. */

export { beginEnrolment, confirmEnrolment } from './enrolment.ts'
export {
  addMember,
  grantRole,
  makeCodeKey,
  removeCodeKey,
  revokeRole,
  setMemberDisabled,
  setPassword,
} from './members.ts'
export { hashPassword, passwordLengthMax, passwordLengthMin } from './password.ts'
export { openProviderSignIn } from './provider-sign-in.ts'
export { beginMemberSession, csrfTokenOf, endMemberSession, openMemberSessions } from './sessions.ts'
export { checkSignIn } from './sign-in.ts'
export { findMember, listMembers, type MemberRow, rolesOf } from './store.ts'
